-- The core: DAGs and their versions, runs, tasks, tries, XComs, events, wake-ups, processes, pools.
--
-- Hot and history: rows of unfinished runs live in *_hot, rows of finished runs in *_history, which
-- is partitioned by run_key; readers use the view over both. A run's rows move in the transaction
-- that ends it. Locks are taken in the order dag, run, pool, task, each by key.

create sequence run_sequence;

create function new_run_key() returns bigint language sql volatile as $$
  -- Milliseconds of database time, then a sequence: ordered in time, unique within a millisecond.
  select (extract(epoch from clock_timestamp()) * 1000)::bigint * 1048576
       + nextval('run_sequence') % 1048576
$$;

create function run_key_floor(at timestamptz) returns bigint language sql stable as $$
  select (extract(epoch from at) * 1000)::bigint * 1048576
$$;

-- Advanced after a batch has committed; readers poll it to see whether anything changed.
create sequence change_counter;

-- ── DAGs ─────────────────────────────────────────────────────────────────────────────────────────

create table spec (
  hash text primary key,
  body text not null,                      -- canonical JSON of a DagSpec
  head text                                -- of its head, where it has one
);

create table dag (
  dag_id text primary key,
  bundle text not null default 'local',
  file text not null,                      -- absolute path of the file that owns the id
  line int,
  present boolean not null default true,   -- false: its file is gone or no longer defines it
  paused boolean not null,
  version int not null,                    -- number of the latest version
  schedule text not null,                  -- in words, for people
  timezone text not null,
  catchup text not null check (catchup in ('false', 'true', 'none')),
  owner text not null,
  tags text[] not null default '{}',
  description text,
  max_active_runs int not null check (max_active_runs >= 1),
  concurrency int check (concurrency >= 1),
  cursor_at timestamptz,                   -- start of the next interval that has no run yet
  next_start timestamptz,                  -- the interval of the next run …
  next_end timestamptz,
  next_run_at timestamptz,                 -- … and when it is due; null: nothing to wait for
  created_at timestamptz not null default clock_timestamp(),
  check ((next_run_at is null) = (next_start is null) and (next_start is null) = (next_end is null)),
  check (next_start <= next_end)
);
create index dag_due on dag (next_run_at, dag_id) where present and not paused;
create index dag_file_index on dag (file);

create table dag_version (
  dag_id text not null references dag on delete cascade,
  number int not null check (number >= 1),
  spec_hash text not null references spec,
  code_hash text not null,                 -- of the file and the local modules it imported
  bundle text not null,
  bundle_version text,
  max_active_tasks int,                    -- within one run; null: it has fewer tasks than that
  pools jsonb not null default '{}',       -- the pools of its tasks: name → most slots of one task
  created_at timestamptz not null default clock_timestamp(),
  primary key (dag_id, number)
);
create index dag_version_spec on dag_version (spec_hash);

create table dag_file (
  path text primary key,
  bundle text not null default 'local',
  content_hash text not null,              -- of the file and the local modules it imported
  conflicts text[] not null default '{}',  -- ids it defines that another file owned at that time
  parsed_at timestamptz not null default clock_timestamp(),
  seconds double precision not null default 0,
  error text,                              -- one line; null: the file imported
  error_line int,
  error_since timestamptz,
  traceback text,
  output text,                             -- the last of what the import printed
  warnings text[] not null default '{}',
  modules jsonb not null default '{}',     -- local modules it imported: name → path
  check ((error is null) = (error_since is null))
);

-- ── runs ─────────────────────────────────────────────────────────────────────────────────────────

create table run (
  run_key bigint primary key default new_run_key(),
  dag_id text not null,                    -- references dag through its version, below
  run_id text not null,
  run_type text not null check (run_type in ('scheduled', 'manual', 'backfill', 'asset')),
  state text not null check (state in ('queued', 'running', 'success', 'failed')),
  version int not null,
  logical_date timestamptz not null,
  data_interval_start timestamptz not null,
  data_interval_end timestamptz not null,
  interval_run boolean not null,           -- made for an interval of the schedule, by whomever
  run_after timestamptz not null default clock_timestamp(),
  queued_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz,
  conf text not null default '{}',         -- JSON object
  reason text,
  note text,
  backfill_id bigint,
  paused boolean not null default false,
  archived boolean not null default false,
  unique (dag_id, run_id),
  foreign key (dag_id, version) references dag_version (dag_id, number),
  check (data_interval_start <= data_interval_end),
  check ((state in ('success', 'failed')) = (ended_at is not null)),
  check (state <> 'running' or started_at is not null),
  check (not archived or ended_at is not null)
);
create unique index run_of_interval on run (dag_id, data_interval_start) where interval_run;
create index run_unfinished on run (dag_id, run_key) where state in ('queued', 'running');
create index run_by_date on run (dag_id, logical_date desc, run_key desc);
-- Pages of the rare kinds over all DAGs, newest first.
create index run_failed on run (run_key) where state = 'failed';
create index run_by_type on run (run_type, run_key) where run_type <> 'scheduled';
create index run_by_interval on run (data_interval_start);

-- ── tasks, tries, XComs, events: hot and history ─────────────────────────────────────────────────

create table task_hot (
  run_key bigint not null,
  task_id text not null,
  map_path int[] not null default '{}',
  dag_id text not null,
  state text not null check (state in (
    'none', 'scheduled', 'queued', 'running', 'success', 'failed', 'skipped', 'up_for_retry',
    'up_for_reschedule', 'deferred', 'awaiting_input', 'restarting', 'upstream_failed', 'removed')),
  try_number int not null default 0,       -- of the current or last try; grows when scheduled anew
  max_tries int not null default 1,        -- tries allowed so far; a clear or a loss raises it
  claim int not null default 0,            -- of the current or last hand-over; only grows
  losses int not null default 0,           -- tries lost in a row
  pool text not null,
  pool_slots int not null default 1 check (pool_slots >= 1),
  queue text not null,
  executor text not null,
  priority int not null,                   -- raised to the highest one by waiting too long
  rank bigint not null default 0,          -- place among equal priorities; negative: it was raised
  turn bigint not null default 0,          -- the rank with which it waited for its pool
  stride int not null default 1000,        -- what it costs its DAG in such an order
  run_limit int check (run_limit >= 1),    -- active instances of this task within the run
  dag_limit int check (dag_limit >= 1),    -- … and over all runs of the DAG
  keeps_slot boolean not null default false, -- occupies its pool though it is not active
  held boolean not null default false,
  retry_delay double precision not null default 0,
  retry_backoff double precision not null default 0,
  max_retry_delay double precision,
  execution_timeout double precision,
  scheduled_at timestamptz,
  queued_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  due_at timestamptz,                      -- when a waiting state ends
  worker bigint,                           -- the process that holds the task
  skips text[],                            -- what a branch or short circuit chose to skip
  reason text,
  primary key (run_key, task_id, map_path),
  constraint task_owner check ((state in ('running', 'restarting')) = (worker is not null)),
  constraint task_due check (state not in ('up_for_retry', 'up_for_reschedule') or due_at is not null),
  constraint task_ended check (
    state not in ('success', 'failed', 'skipped', 'upstream_failed', 'removed')
    or ended_at is not null),
  constraint task_queued check (state <> 'queued' or (queued_at is not null and try_number >= 1))
) with (fillfactor = 70,
        autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0,
        autovacuum_analyze_threshold = 10000, autovacuum_analyze_scale_factor = 0);

-- Claims walk this in order.
create index task_queue on task_hot (executor, queue, priority desc, rank, run_key, task_id)
  where state = 'queued';
-- Ready tasks of a pool in order, and what occupies it.
create index task_pool on task_hot (pool, state, priority desc, turn, run_key)
  where state in ('scheduled', 'queued', 'running', 'restarting');
-- What occupies a pool without being active; few.
create index task_keeping on task_hot (pool) where keeps_slot;
-- What is unfinished in a DAG and in a run: limits, census, ready tasks of one run in order.
create index task_unfinished on task_hot (dag_id, run_key, state, priority desc, rank)
  where state not in ('success', 'failed', 'skipped', 'upstream_failed', 'removed', 'none');
-- Decisions of branches; few.
create index task_skips on task_hot (run_key) where skips is not null;

create table task_history (
  like task_hot including defaults including constraints,
  primary key (run_key, task_id, map_path)
) partition by range (run_key);

create table try_hot (
  run_key bigint not null,
  task_id text not null,
  map_path int[] not null default '{}',
  try_number int not null check (try_number >= 1),
  claim int not null,
  state text not null check (state in (
    'running', 'deferred', 'up_for_reschedule', 'success', 'failed', 'skipped', 'lost',
    'lease_expired', 'drained', 'code_mismatch', 'restarted')),
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  worker bigint not null,
  host text not null,
  pid int,
  executor text not null,
  queue text not null,
  bundle text,
  bundle_version text,
  code_hash text,
  exit_code int,
  signal int,
  reason text,
  peak_rss bigint,
  cpu_time double precision,
  log text,
  primary key (run_key, task_id, map_path, try_number),
  constraint try_ended check (
    (state in ('running', 'deferred', 'up_for_reschedule')) = (ended_at is null))
) with (fillfactor = 70,
        autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0);
-- What a worker holds; read when it is lost.
create index try_open on try_hot (worker) where ended_at is null;

create table try_history (
  like try_hot including defaults including constraints,
  primary key (run_key, task_id, map_path, try_number)
) partition by range (run_key);

create table xcom_hot (
  run_key bigint not null,
  task_id text not null,
  map_path int[] not null default '{}',
  try_number int not null,
  key text not null,
  value text not null,                     -- JSON, see flow.authoring.xcom
  created_at timestamptz not null default clock_timestamp(),
  primary key (run_key, task_id, map_path, try_number, key)
) with (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0);

create table xcom_history (
  like xcom_hot including defaults including constraints,
  primary key (run_key, task_id, map_path, try_number, key)
) partition by range (run_key);

create table event_hot (
  run_key bigint not null,
  event_id bigint generated by default as identity,
  at timestamptz not null default clock_timestamp(),
  task_id text,
  map_path int[] not null default '{}',
  try_number int,
  kind text not null,
  detail text not null default '',
  primary key (run_key, event_id)
) with (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0);

create table event_history (
  run_key bigint not null,
  event_id bigint not null,
  at timestamptz not null,
  task_id text,
  map_path int[] not null,
  try_number int,
  kind text not null,
  detail text not null,
  primary key (run_key, event_id)
) partition by range (run_key);

create view task as select * from task_hot union all select * from task_history;
create view try as select * from try_hot union all select * from try_history;
create view xcom as select * from xcom_hot union all select * from xcom_history;
create view event as select * from event_hot union all select * from event_history;

create function ensure_partitions(months int) returns void language plpgsql as $$
-- History partitions of the current month and the `months` after it; called by migrations and, now
-- and then, by schedulers.
declare
  family text;
  first date := date_trunc('month', now() at time zone 'UTC')::date;
  month date;
  name text;
begin
  perform pg_advisory_xact_lock(hashtext('flow.ensure_partitions'));
  for offset_ in 0..months loop
    month := first + make_interval(months => offset_);
    foreach family in array array['task', 'try', 'xcom', 'event'] loop
      name := format('%s_history_%s', family, to_char(month, 'YYYYMM'));
      if to_regclass(name) is null then
        execute format(
          'create table %I partition of %I for values from (%s) to (%s)',
          name, family || '_history',
          run_key_floor(month::timestamp at time zone 'UTC'),
          run_key_floor((month + interval '1 month') at time zone 'UTC'));
      end if;
    end loop;
  end loop;
end $$;
select ensure_partitions(2);

-- ── wake-ups ─────────────────────────────────────────────────────────────────────────────────────

-- What may change a future leaves a row here. Append-only, no foreign key, no upsert: a finishing
-- worker never waits for a scheduler. Schedulers delete exactly the ids they took.
create table wakeup (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('run', 'dag', 'pool', 'queue')),
  run_key bigint,                          -- kind run
  task_id text,                            -- kind run: what changed; null: anything
  name text,                               -- kinds dag, pool, queue
  due_at timestamptz not null default clock_timestamp(),
  check ((kind = 'run') = (run_key is not null)),
  check ((kind = 'run') = (name is null))
) with (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0);
create index wakeup_due on wakeup (kind, due_at, id);

-- ── processes and pools ──────────────────────────────────────────────────────────────────────────

create table process (
  process_id bigint generated always as identity primary key,  -- one per start, never reused
  role text not null check (role in ('parse', 'schedule', 'work', 'trigger')),
  host text not null,
  pid int not null,
  version text not null,
  started_at timestamptz not null default clock_timestamp(),
  heartbeat bigint not null default 0,     -- counts; who is lost is judged by its progress
  heartbeat_at timestamptz not null default clock_timestamp(),
  lost_after double precision not null,    -- seconds
  draining boolean not null default false,
  executor text,
  queues text[] not null default '{}',
  slots int not null default 0,
  ended_at timestamptz,
  ended_reason text,
  check ((ended_at is null) = (ended_reason is null))
) with (fillfactor = 50);
create index process_alive on process (role) where ended_at is null;

create table pool (
  name text primary key,
  slots int not null check (slots >= -1),  -- -1 is unlimited
  include_deferred boolean not null default false,
  description text not null default ''
);
insert into pool (name, slots, description) values ('default_pool', -1, 'Unlimited unless set');

-- Callbacks that need a process of their own: the run's, and those of tasks whose process died.
-- A worker claims one like a task and deletes it when it has run; one whose worker ended is free.
create table callback (
  callback_id bigint generated always as identity primary key,
  run_key bigint not null,
  dag_id text not null,
  task_id text,                            -- null: the run's own callbacks
  map_path int[] not null default '{}',
  try_number int not null default 0,
  max_tries int not null default 0,
  kind text not null check (kind in ('success', 'failure', 'retry', 'skipped')),
  reason text not null,
  executor text not null,
  queue text not null,
  worker bigint,
  created_at timestamptz not null default clock_timestamp()
);
create index callback_waiting on callback (queue, callback_id) where worker is null;
create index callback_taken on callback (worker) where worker is not null;

-- ── settings and audit ───────────────────────────────────────────────────────────────────────────

create table variable (
  key text primary key,
  value bytea not null,                    -- encrypted
  description text not null default '',
  updated_at timestamptz not null default clock_timestamp()
);

create table connection (
  conn_id text primary key,
  conn_type text not null,
  secret bytea not null,                   -- encrypted JSON: every field but type and description
  description text not null default '',
  updated_at timestamptz not null default clock_timestamp()
);

create table audit (
  audit_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  os_user text not null,
  db_role text not null default session_user,
  host text not null,
  verb text not null,
  target text not null,
  before jsonb,
  after jsonb
);
create index audit_at on audit (at);
