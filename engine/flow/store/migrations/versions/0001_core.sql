-- The core: DAGs and their versions, runs, tasks, tries, XComs, events, wake-ups, processes, pools.
--
-- Hot and history: rows of unfinished runs live in *_hot, rows of finished runs in *_history, which
-- is partitioned by run_key; readers use the view over both. A run's rows move in the transaction
-- that ends it. Locks are taken in the order dag, backfill, run, pool, task, each by key.

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
  pause_reason text,                       -- why it was paused, if not by a person
  unpaused_at timestamptz,                 -- failures before that do not count any more
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
  code text check (code in ('pinned', 'latest')),  -- null: as the worker's settings say
  modules jsonb not null default '{}',     -- those modules: name → path within the DAG folder
  bundle text not null,
  bundle_version text,
  max_active_tasks int,                    -- within one run; null: it has fewer tasks than that
  pools jsonb not null default '{}',       -- the pools of its tasks: name → most slots of one task
  created_at timestamptz not null default clock_timestamp(),
  primary key (dag_id, number)
);
create index dag_version_spec on dag_version (spec_hash);

-- The coming intervals of DAGs whose timetable is a class of the user's, evaluated ahead by the DAG
-- processor, and the last one that has got its run; schedulers make runs from these rows alone.
create table dag_interval (
  dag_id text not null references dag on delete cascade,
  data_interval_start timestamptz not null,
  data_interval_end timestamptz not null,
  run_after timestamptz not null,          -- when its run is made
  primary key (dag_id, data_interval_start),
  check (data_interval_start <= data_interval_end)
);

create table dag_evaluation (
  dag_id text primary key references dag on delete cascade,
  refresh_at timestamptz not null,         -- not evaluated again before, unless the file changes
  low int not null check (low >= 0),       -- evaluated again when fewer intervals are to come
  dry boolean not null,                    -- the timetable has no interval after those stored
  error text,                              -- one line; the intervals stay as they are
  error_since timestamptz,
  traceback text,
  check ((error is null) = (error_since is null))
);

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
  variables jsonb not null default '{}',   -- variables it read: key → when set; null: there was none
  imports jsonb not null default '[]',     -- its slowest imports: [module, seconds, importer]
  check ((error is null) = (error_since is null))
);

-- Which DAG processor imports a file just now. Another one may take it over when this one has ended
-- or the time is up; what the first one then finds does not count.
create table parse_lease (
  path text primary key,
  process_id bigint not null,
  until timestamptz not null
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
  reason_code text,                        -- its code, where it has one: flow.decide.reason
  note text,
  backfill_id bigint,                      -- what works on it, or did; its limit counts the run then
  selected text[],                         -- the tasks that are to run; null: all of them
  ignores_past boolean not null default false, -- the first run of a backfill waits for no past
  priority int not null default 0,         -- added to the priority of its tasks
  paused boolean not null default false,   -- nothing more of it starts
  holds boolean not null default false,    -- a task of it is held
  archived boolean not null default false,
  past_key bigint,                         -- the previous run that a task of it waits for
  chained boolean not null default false,  -- a later run has asked about it: wake who waits
  unique (dag_id, run_id),
  foreign key (dag_id, version) references dag_version (dag_id, number),
  check (data_interval_start <= data_interval_end),
  check ((state in ('success', 'failed')) = (ended_at is not null)),
  check (state <> 'running' or started_at is not null),
  check (not archived or ended_at is not null)
);
create unique index run_of_interval on run (dag_id, data_interval_start) where interval_run;
create index run_unfinished on run (dag_id, run_key) where state in ('queued', 'running');
create index run_queued on run (dag_id, logical_date, run_key) where state = 'queued';
create index run_by_date on run (dag_id, logical_date desc, run_key desc);
-- What has ended lately; pages of the rare kinds over all DAGs, newest first.
create index run_ended on run (ended_at) where state in ('success', 'failed');
create index run_failed on run (run_key) where state = 'failed';
create index run_by_type on run (run_type, run_key) where run_type <> 'scheduled';
create index run_by_interval on run (data_interval_start);
-- What a backfill has under way; few.
create index run_of_backfill on run (backfill_id)
  where backfill_id is not null and state in ('queued', 'running');

-- ── backfills ────────────────────────────────────────────────────────────────────────────────────

-- What somebody asked for. Written under the DAG's row; whoever puts runs back into the queue holds
-- the backfills they are in. Until `ended_at` it is active: also when it was cancelled and runs of
-- it go on.
create table backfill (
  backfill_id bigint generated always as identity primary key,
  dag_id text not null references dag on delete cascade,
  state text not null default 'running' check (state in ('running', 'paused', 'cancelled', 'done')),
  tasks text[],                            -- the tasks that run; null: all of them
  run_order text not null check (run_order in ('oldest', 'newest')),
  reprocess text not null check (reprocess in ('none', 'failed', 'all')),
  version text not null check (version in ('latest', 'run')), -- of the runs that are done again
  max_active_runs int not null check (max_active_runs >= 1),
  conf text,                               -- JSON object; null: none was given
  priority int not null default 0,         -- added to the priority of its tasks
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  check (state <> 'done' or ended_at is not null),
  check (state not in ('running', 'paused') or ended_at is null)
);
create index backfill_active on backfill (dag_id) where ended_at is null;

-- Its intervals in their order, as the plan said, and the run of each from its turn on. An interval
-- is in one active backfill at most.
create table backfill_interval (
  backfill_id bigint not null references backfill on delete cascade,
  ordinal int not null check (ordinal >= 1),
  dag_id text not null,
  data_interval_start timestamptz not null,
  data_interval_end timestamptz not null,
  action text not null check (action in ('create', 'clear', 'skip')),
  note text,                               -- why it is left alone
  run_key bigint,                          -- its run, from its turn on; or that which is left alone
  active boolean not null,                 -- something is to be done, and its backfill is active
  primary key (backfill_id, ordinal),
  check (action <> 'skip' or note is not null)
);
create unique index backfill_of_interval on backfill_interval (dag_id, data_interval_start)
  where active;
-- What has not had its turn.
create index backfill_open on backfill_interval (backfill_id, ordinal)
  where action <> 'skip' and run_key is null;

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
  held boolean not null default false,     -- somebody keeps it from starting
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
  stop_reason text,                        -- who runs it is to end it, and then it is skipped
  reason text,
  reason_code text,                        -- its code, where it has one: flow.decide.reason
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
-- What has failed in runs that go on; few. Latest failures are read from its end.
create index task_failed on task_hot (ended_at) where state = 'failed';
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
  warnings jsonb not null default '{}',    -- what it cannot do as asked: path → text
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
-- A worker claims one like a task and deletes it when it has run; one whose worker ended is free, and
-- given up when that has happened too often: then it stays, as what `flow why` tells of it.
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
  losses int not null default 0,           -- how often it went down with its worker
  given_up text,                           -- why it is not claimed any more
  created_at timestamptz not null default clock_timestamp(),
  check (given_up is null or worker is null)
);
create index callback_waiting on callback (queue, callback_id)
  where worker is null and given_up is null;
create index callback_taken on callback (worker) where worker is not null;

-- Processes that no longer count and may still be alive: their task was marked, or its run cancelled,
-- while a worker had it. The worker takes the row away once the process is dead; so does whoever
-- frees what a lost worker held. As long as it is there no new try of the task starts.
create table stopping (
  run_key bigint not null,
  task_id text not null,
  map_path int[] not null default '{}',
  claim int not null,                      -- of the process
  worker bigint not null,
  since timestamptz not null default clock_timestamp(),
  primary key (run_key, task_id, map_path)
);
create index stopping_worker on stopping (worker);

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
create index audit_target on audit (target collate "C");  -- of a DAG and all that is in it

-- ── decisions ────────────────────────────────────────────────────────────────────────────────────

-- What a scheduler does for every task that ends stands in functions: a session plans their
-- statements once, where planning took longer than running them and prepared statements of a
-- driver would not work through PgBouncer. Such a plan is made without knowing values or how large
-- the tables will be, so it may not read a whole table. Each statement of a volatile function has a
-- snapshot of its own (READ COMMITTED), so one that stands after a lock sees what was committed
-- before the lock was given.

create function take_runs(most int, again interval, whole int)
returns table (wakeups int, changed text[], tasks json,
  run_key bigint, dag_id text, spec_hash text, paused boolean, holds boolean,
  logical_date timestamptz, started_at timestamptz, past_key bigint, chained boolean,
  backfill boolean, selected text[], ignores_past boolean, priority int, limited boolean)
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_mergejoin = off
as $$
-- Takes up to `most` due wake-ups of runs, oldest first, and locks those of their runs that are
-- running, in order of key; what another scheduler holds is passed over. A row for each run that
-- was woken; where it is not the caller's now, it has no dag_id. `changed` names the tasks that
-- changed, null stands for anything. `tasks` are the run's rows as they stand under the lock, each
-- [id, state, due_at, skips]; null where there are more than `whole`. Indexes wakeup_due, the
-- primary keys, and a prefix of task_hot's.
#variable_conflict use_column
declare
  ids bigint[];
  run_keys bigint[];
  task_ids text[];
  woken int;
  ours bigint[];
begin
  select array_agg(id), array_agg(run_key), array_agg(task_id), count(distinct run_key)
    into ids, run_keys, task_ids, woken
  from (select id, run_key, task_id from wakeup
    where kind = 'run' and due_at <= statement_timestamp()
    order by due_at, id limit most for update skip locked) as due;
  if ids is null then
    return;
  end if;

  select coalesce(array_agg(run_key), '{}') into ours
  from (select run_key from run where run_key = any (run_keys) and state = 'running'
    order by run_key for no key update skip locked) as free;

  -- Exactly the wake-ups that were taken go: what arrived meanwhile stays.
  if cardinality(ours) = woken then
    delete from wakeup where id = any (ids);
  else
    -- Those of a run that somebody else holds come back: he, or his successor, has to look.
    delete from wakeup w where w.id = any (ids) and (w.run_key = any (ours)
      or not exists (select from run r where r.run_key = w.run_key and r.state = 'running'));
    update wakeup set due_at = clock_timestamp() + again where id = any (ids);
  end if;

  return query
  select w.wakeups, w.changed, case when t.number <= whole then t.tasks end,
    w.run_key, r.dag_id, v.spec_hash, r.paused, r.holds, r.logical_date, r.started_at, r.past_key,
    r.chained, r.backfill_id is not null, r.selected, r.ignores_past, r.priority,
    (select d.concurrency is not null from dag d where d.dag_id = r.dag_id)
  from (select run_key, case when bool_and(task_id is not null) then array_agg(task_id) end,
      count(*)::int
    from unnest(run_keys, task_ids) as u(run_key, task_id) group by run_key)
    as w(run_key, changed, wakeups)
  left join run r on r.run_key = w.run_key and r.run_key = any (ours)
  left join dag_version v on v.dag_id = r.dag_id and v.number = r.version
  left join lateral (
    select count(*) as number,
      coalesce(json_agg(json_build_array(task_id, state, due_at, skips)), '[]') as tasks
    from (select task_id, state, due_at, skips from task_hot t
      where t.run_key = r.run_key and t.map_path = '{}' limit whole + 1) as row_) as t on true
  order by w.run_key;
end $$;

create function open_gates()
returns table (now timestamptz, served text[], unlimited text[])
language plpgsql volatile
as $$
-- Database time, what live workers serve ("executor queue"), and the pools that have no size: no
-- pool gets one before the caller's transaction has ended.
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock_shared(hashtext('flow.pool_sizes'));
  return query select clock_timestamp(),
    (select coalesce(array_agg(distinct executor || ' ' || queue), '{}')
       from process, unnest(queues) as queue
       where role = 'work' and ended_at is null and not draining),
    (select coalesce(array_agg(name), '{}') from pool where slots < 0);
end $$;

create function find_places(line_pools text[], line_executors text[], line_queues text[],
  line_priorities int[], flow_lines int[], flow_dags text[], flow_backfills boolean[],
  flow_alone boolean[], flow_strides int[])
returns bigint[]
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_mergejoin = off
set enable_hashjoin = off
as $$
-- The place of the first task of each flow, that is of a DAG (its backfills are a flow of their own)
-- in a line: in a queue where no pool is named, else in a pool. See flow.decide.turns.
--
-- A line's clock. For a queue it is the first place in it (index task_queue): workers take whatever
-- stands first. In a pool what stands first may be kept waiting by another limit, so it is the last
-- place of what occupies the pool (index task_pool), and the first one only when nothing does.
-- Raised tasks stand before all others, at negative places, and say nothing of a clock.
--
-- The last place of a flow is looked up by run (indexes run_unfinished and task_unfinished). The
-- state comes from the line, so that the partial index task_queue cannot be used: its plan, made when
-- nothing was queued, would read everything that is queued once for each flow.
#variable_conflict use_column
begin
  return (with line as materialized (
    select l.number, l.pool, l.executor, l.queue, l.priority,
      case when l.pool is null then 'queued' else 'scheduled' end as state,
      case when l.pool is null then (
        select t.rank from task_hot t where t.state = 'queued' and t.executor = l.executor
          and t.queue = l.queue and t.priority = l.priority and t.rank >= 0
        order by t.rank limit 1)
      else coalesce(greatest(
        (select t.turn from task_hot t where t.pool = l.pool and t.state = 'running'
          and t.priority = l.priority and t.turn >= 0 order by t.turn desc limit 1),
        (select t.turn from task_hot t where t.pool = l.pool and t.state = 'queued'
          and t.priority = l.priority and t.turn >= 0 order by t.turn desc limit 1)),
        (select t.turn from task_hot t where t.pool = l.pool and t.state = 'scheduled'
          and t.priority = l.priority and t.turn >= 0 order by t.turn limit 1)) end as clock
    from unnest(line_pools, line_executors, line_queues, line_priorities)
      with ordinality as l(pool, executor, queue, priority, number))
  select coalesce(array_agg(f.stride + greatest(l.clock, case
    when not f.alone then (
      select max(w.rank) from run r, lateral (
        select t.rank from task_hot t where t.dag_id = r.dag_id and t.run_key = r.run_key
          and t.state not in
            ('success', 'failed', 'skipped', 'upstream_failed', 'removed', 'none')
          and t.state = l.state and t.priority = l.priority and t.rank >= 0
          and case when l.pool is null then t.queue = l.queue and t.executor = l.executor
            else t.pool = l.pool end
        order by t.rank desc limit 1) as w
      where r.dag_id = f.dag_id and r.state in ('queued', 'running')
        and (r.backfill_id is not null) = f.backfill)
    end, 0) order by f.number), '{}')
  from unnest(flow_lines, flow_dags, flow_backfills, flow_alone, flow_strides)
      with ordinality as f(line, dag_id, backfill, alone, stride, number)
    join line l on l.number = f.line);
end $$;

create function follow_tries(run_keys bigint[], task_ids text[]) returns void
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_nestloop = on
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
-- Somebody may have deleted the row of a task by hand, which was made again just now: the numbers of
-- its tries are still there and go on, and one that was left open is closed. Prefixes of try_hot's
-- primary key.
#variable_conflict use_column
begin
  if not exists (select from unnest(run_keys, task_ids) as k(run_key, task_id)
      join try_hot t on t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = '{}') then
    return;  -- as nearly always
  end if;
  with known as materialized (
    select t.run_key, t.task_id, max(t.try_number) as number, max(t.claim) as claim
    from unnest(run_keys, task_ids) as k(run_key, task_id)
    join try_hot t on t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = '{}'
    group by t.run_key, t.task_id),
  closed as (
    update try_hot t set state = 'lost', ended_at = clock_timestamp(),
      reason = 'the row of its task was deleted'
    from known k
    where t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = '{}'
      and t.ended_at is null)
  update task_hot t set try_number = t.try_number + k.number, claim = k.claim,
    max_tries = greatest(t.max_tries, k.number + 1)
  from known k
  where t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = '{}';
end $$;

create function add_tasks(run_keys bigint[], task_ids text[], dag_ids text[], states text[],
  reasons text[], codes text[], profiles int[], max_tries int[], pools text[], pool_slots int[],
  queues text[], executors text[], priorities int[], run_limits int[], dag_limits int[],
  retry_delays float8[], retry_backoffs float8[], max_retry_delays float8[],
  execution_timeouts float8[], strides int[], flows int[], behind bigint[], places bigint[],
  fresh boolean)
returns void
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
as $$
-- First rows of tasks, whose run the caller holds or has made. What most tasks of a batch have in
-- common (pool, queue, retries, …) comes once per distinct combination, as a profile. The plan
-- hashes the profiles: there may be one, or hundreds. What begins to wait stands so far behind the
-- place of its flow (find_places). `fresh`: the runs are new.
#variable_conflict use_column
declare
  at timestamptz := clock_timestamp();
begin
  insert into task_hot (run_key, task_id, dag_id, state, try_number, max_tries, pool, pool_slots,
    queue, executor, priority, run_limit, dag_limit, retry_delay, retry_backoff, max_retry_delay,
    execution_timeout, stride, rank, turn, reason, reason_code, scheduled_at, queued_at, ended_at)
  select n.run_key, n.task_id, n.dag_id, n.state, (n.state in ('scheduled', 'queued'))::int,
    p.max_tries, p.pool, p.pool_slots, p.queue, p.executor, p.priority, p.run_limit, p.dag_limit,
    p.retry_delay, p.retry_backoff, p.max_retry_delay, p.execution_timeout, coalesce(n.stride, 1000),
    coalesce(places[n.flow] + n.behind, 0),
    case when n.state = 'scheduled' then coalesce(places[n.flow] + n.behind, 0) else 0 end,
    n.reason, n.code,
    case when n.state in ('scheduled', 'queued') then at end,
    case when n.state = 'queued' then at end,
    case when n.state not in ('none', 'scheduled', 'queued') then at end
  from unnest(run_keys, task_ids, dag_ids, states, reasons, codes, profiles, strides, flows,
      add_tasks.behind)
    as n(run_key, task_id, dag_id, state, reason, code, profile, stride, flow, behind)
  join unnest(add_tasks.max_tries, pools, add_tasks.pool_slots, queues, executors, priorities,
      run_limits, dag_limits, retry_delays, retry_backoffs, max_retry_delays, execution_timeouts)
    with ordinality as p(max_tries, pool, pool_slots, queue, executor, priority, run_limit,
      dag_limit, retry_delay, retry_backoff, max_retry_delay, execution_timeout, profile)
    on p.profile = n.profile;
  if not fresh then
    perform follow_tries(run_keys, task_ids);
  end if;
end $$;

create function queue_tasks(run_keys bigint[], task_ids text[], map_paths text[], flows int[],
  behind bigint[], places bigint[])
returns int
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_mergejoin = off
set enable_hashjoin = off
as $$
-- Ready tasks that were admitted go to the queue, where each stands so far behind the place of its
-- flow (find_places); a raised one stays in front of everybody there too. How many were still ready.
-- Looked up by the primary key one by one: a table that was just filled looks small to the planner,
-- which then read all of it for every batch.
#variable_conflict use_column
declare
  queued int;
begin
  update task_hot t set state = 'queued', queued_at = clock_timestamp(),
    rank = case when t.turn < 0 then t.turn else places[k.flow] + k.behind end
  from unnest(run_keys, task_ids, map_paths, flows, queue_tasks.behind)
    as k(run_key, task_id, map_path, flow, behind)
  where t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = k.map_path::int[]
    and t.state = 'scheduled' and not t.held;
  get diagnostics queued = row_count;
  return queued;
end $$;

create function take_due(most int)
returns table (dag_id text, version int, spec_hash text, cursor_at timestamptz,
  max_active_runs int, runs int, running int, unfinished int, latest timestamptz)
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_mergejoin = off
set enable_hashjoin = off
as $$
-- Locks up to `most` DAGs whose next run is due, longest due first, and counts their unfinished
-- `runs` under that lock: how many of them are `running` or `unfinished` leaves out those of
-- backfills, as a DAG's limit does; `latest` is the last logical date among all that are running.
-- Indexes dag_due (a volatile clock_timestamp() could not be looked up in it) and run_unfinished.
-- One that another scheduler holds is passed over.
#variable_conflict use_column
declare
  ids text[];
begin
  select array_agg(dag_id) into ids from (select dag_id from dag
    where present and not paused and next_run_at <= statement_timestamp()
    order by next_run_at, dag_id limit most for no key update skip locked) as due;
  if ids is null then
    return;
  end if;

  return query
  select d.dag_id, d.version, v.spec_hash, d.cursor_at, d.max_active_runs, a.runs, a.running,
    a.unfinished, a.latest
  from unnest(ids) with ordinality as k(dag_id, place)
  join dag d on d.dag_id = k.dag_id
  join dag_version v on v.dag_id = d.dag_id and v.number = d.version,
  lateral (select count(*)::int as runs,
      (count(*) filter (where r.state = 'running' and r.backfill_id is null))::int as running,
      (count(*) filter (where r.backfill_id is null))::int as unfinished,
      max(r.logical_date) filter (where r.state = 'running') as latest
    from run r where r.dag_id = d.dag_id and r.state in ('queued', 'running')) as a
  order by k.place;
end $$;

create function end_runs(run_keys bigint[], states text[], reasons text[], codes text[])
returns void
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_mergejoin = off
set enable_hashjoin = off
as $$
-- Verdicts of runs that the caller holds. Their rows leave the hot tables in the same transaction.
-- Wakes their DAGs, of which something may have waited for that: a queued run, a ready task, a
-- backfill, the next run (then it has no time). Where nothing does, under the lock of the DAG, no
-- wake-up is needed: whoever makes something wait holds that lock too, or leaves a wake-up of its
-- own. A DAG that somebody else holds is woken; nobody is waited for, since the runs are locked
-- already. Indexes run_queued, task_unfinished, backfill_active.
#variable_conflict use_column
declare
  dag_ids text[];
  ours text[];
begin
  with ended as (
    update run r set state = e.state, reason = e.reason, reason_code = e.code,
      ended_at = clock_timestamp(), past_key = null
    from unnest(run_keys, states, reasons, codes) as e(run_key, state, reason, code)
    where r.run_key = e.run_key and r.state in ('queued', 'running')
    returning r.dag_id)
  select array_agg(distinct dag_id) into dag_ids from ended;

  with moved as (delete from task_hot where run_key = any (run_keys) returning *)
  insert into task_history select * from moved;
  with moved as (delete from try_hot where run_key = any (run_keys) returning *)
  insert into try_history select * from moved;
  with moved as (delete from xcom_hot where run_key = any (run_keys) returning *)
  insert into xcom_history select * from moved;
  with moved as (delete from event_hot where run_key = any (run_keys) returning *)
  insert into event_history select * from moved;

  select array_agg(dag_id) into ours
  from (select dag_id from dag where dag_id = any (dag_ids) and next_run_at is not null
    order by dag_id for no key update skip locked) as free;
  insert into wakeup (kind, name)
  select 'dag', k.dag_id from unnest(dag_ids) as k(dag_id)
  where ours is null or not k.dag_id = any (ours)
    or exists (select from run r where r.dag_id = k.dag_id and r.state = 'queued')
    or exists (select from task_hot t where t.dag_id = k.dag_id and t.state = 'scheduled'
      and t.state not in ('success', 'failed', 'skipped', 'upstream_failed', 'removed', 'none'))
    or exists (select from backfill b where b.dag_id = k.dag_id and b.ended_at is null);
end $$;

create function lock_runs(run_keys bigint[]) returns table (run_key bigint, active int)
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_mergejoin = off
set enable_hashjoin = off
as $$
-- Locks those of some runs that are running and not paused, in order of key, passing over what
-- another scheduler holds, and counts their active tasks under that lock; index task_unfinished.
#variable_conflict use_column
declare
  ours bigint[];
  dag_ids text[];
begin
  select array_agg(run_key), array_agg(dag_id) into ours, dag_ids
  from (select run_key, dag_id from run
    where run_key = any (run_keys) and state = 'running' and not paused
    order by run_key for no key update skip locked) as free;
  return query
  select k.run_key, (select count(*)::int from task_hot t where t.dag_id = k.dag_id
    and t.run_key = k.run_key and t.state in ('queued', 'running', 'restarting'))
  from unnest(ours, dag_ids) as k(run_key, dag_id);
end $$;

create function due_in() returns table (decide float8, admit float8, make float8)
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
-- Seconds until the first wake-up of a run, the first of a DAG, pool or queue, and the first DAG
-- whose next run is due; infinity where there is none. One probe of index wakeup_due per kind, one
-- of dag_due. Locks nothing: what another scheduler holds looks due.
declare
  at timestamptz := clock_timestamp();
begin
  return query select
    coalesce(extract(epoch from first.run - at), 'infinity')::float8,
    coalesce(extract(epoch from least(first.dag, first.pool, first.queue) - at), 'infinity')::float8,
    coalesce(extract(epoch from first.made - at), 'infinity')::float8
  from (select
    (select min(due_at) from wakeup where kind = 'run') as run,
    (select min(due_at) from wakeup where kind = 'dag') as dag,
    (select min(due_at) from wakeup where kind = 'pool') as pool,
    (select min(due_at) from wakeup where kind = 'queue') as queue,
    (select min(next_run_at) from dag where present and not paused) as made) as first;
end $$;

-- ── tries ────────────────────────────────────────────────────────────────────────────────────────

-- What a worker does for every task, in functions for the same reason.

create function claim_tasks(by_worker bigint, on_host text, for_executor text, served text[],
  most int, pins boolean)
returns table (run_key bigint, task_id text, map_path int[], claim int, try_number int,
  max_tries int, losses int, retry_delay float8, retry_backoff float8, max_retry_delay float8,
  execution_timeout float8, executor text, queue text, dag_id text, run_id text, run_type text,
  version int, logical_date timestamptz, data_interval_start timestamptz,
  data_interval_end timestamptz, run_after timestamptz, started_at timestamptz, conf text,
  file text, code_hash text, modules jsonb)
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_mergejoin = off
as $$
-- Sets up to `most` queued tasks of an executor and its queues running, in admission order, passing
-- over what other workers are taking; index task_queue, of each queue no more than the limit: with
-- `queue = any(…)` every queued task was read and sorted for each claim. Places in different queues
-- say nothing of each other, so tasks of one priority are taken by how far they stand from the head
-- of their own queue. Opens the tries in the
-- same statement, so a try that has a number and a start has a row. Tells the code of the run's
-- version where that is pinned; `pins` says whether it is where the DAG does not.
-- A worker whose row has ended gets nothing: what it held has been freed, and nobody would look
-- again for what it took since. Until the commit its row is locked against being ended.
#variable_conflict use_column
begin
  perform from process where process_id = by_worker and ended_at is null for share;
  if not found then
    return;
  end if;

  return query
  with picked as materialized (
    select q.run_key, q.task_id, q.map_path
    from unnest(served) as s(name),
      lateral (select run_key, task_id, map_path, priority, rank from task_hot t
        where t.state = 'queued' and t.executor = for_executor and t.queue = s.name
        order by t.priority desc, t.rank, t.run_key, t.task_id limit most
        for update skip locked) as q
    order by q.priority desc, q.rank - min(q.rank) over (partition by s.name, q.priority),
      q.run_key, q.task_id limit most),
  claimed as (
    update task_hot t set state = 'running', claim = t.claim + 1, worker = by_worker,
      started_at = clock_timestamp(), reason = null, reason_code = null, stop_reason = null
    from picked p
    where t.run_key = p.run_key and t.task_id = p.task_id and t.map_path = p.map_path
      and t.state = 'queued'
    returning t.*),
  opened as (
    insert into try_hot (run_key, task_id, map_path, try_number, claim, state, started_at, worker,
      host, executor, queue)
    select run_key, task_id, map_path, try_number, claim, 'running', started_at, worker, on_host,
      executor, queue
    from claimed
    on conflict on constraint try_hot_pkey
      do update set claim = excluded.claim, worker = excluded.worker, host = excluded.host,
        state = 'running')
  select c.run_key, c.task_id, c.map_path, c.claim, c.try_number, c.max_tries, c.losses,
    c.retry_delay, c.retry_backoff, c.max_retry_delay, c.execution_timeout, c.executor, c.queue,
    c.dag_id, r.run_id, r.run_type, r.version, r.logical_date, r.data_interval_start,
    r.data_interval_end, r.run_after, r.started_at, r.conf, d.file,
    v.code_hash, v.modules
  from claimed c join run r on r.run_key = c.run_key join dag d on d.dag_id = c.dag_id
  left join dag_version v on v.dag_id = c.dag_id and v.number = r.version
    and (v.code = 'pinned' or pins and v.code is null)
  order by c.priority desc, c.rank, c.run_key, c.task_id;
end $$;

create function report_tries(run_keys bigint[], task_ids text[], map_paths text[], claims int[],
  states text[], try_states text[], reasons text[], codes text[], delays float8[], agains bool[],
  pids int[], logs text[], exit_codes int[], signals int[], peaks bigint[], cpu_times float8[],
  code_hashes text[], skips_ text[], values_ text[])
returns table (run_key bigint, task_id text, map_path int[], claim int)
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_mergejoin = off
as $$
-- Everything that follows from ended tries, for those whose claim still counts: the task's state,
-- the closed try, the return value, the wake-ups of the run and of a pool with a size. Rows are
-- locked in order of key, so two reports and an operator's mark cannot wait for each other.
-- A task that was cleared meanwhile was only waiting for this process to be dead: whatever it says
-- of itself, its try is closed as restarted and the task is open to be decided anew.
#variable_conflict use_column
begin
  return query
  with said as materialized (
    select run_key, task_id, map_path::int[] as map_path, claim, state, try_state, reason, code,
      delay, again, pid, log, exit_code, signal, peak_rss, cpu_time, code_hash, skips, value
    from unnest(run_keys, task_ids, map_paths, claims, states, try_states, reasons, codes, delays,
      agains, pids, logs, exit_codes, signals, peaks, cpu_times, code_hashes, skips_, values_)
    as s(run_key, task_id, map_path, claim, state, try_state, reason, code, delay, again, pid, log,
      exit_code, signal, peak_rss, cpu_time, code_hash, skips, value)),
  current as materialized (
    select s.run_key, s.task_id, s.map_path, s.claim, s.pid, s.log, s.exit_code, s.signal,
      s.peak_rss, s.cpu_time, s.code_hash, t.try_number, t.pool, t.state = 'restarting' as cleared,
      case t.state when 'running' then s.state else 'none' end as state,
      case t.state when 'running' then s.try_state else 'restarted' end as try_state,
      case t.state when 'running' then s.reason else t.reason end as reason,
      case t.state when 'running' then s.code end as code,
      case t.state when 'running' then s.delay end as delay,
      case t.state when 'running' then s.skips end as skips,
      case t.state when 'running' then s.value end as value,
      s.again and t.state = 'running' as again
    from task_hot t join said s
      on t.run_key = s.run_key and t.task_id = s.task_id and t.map_path = s.map_path
    where t.claim = s.claim and t.state in ('running', 'restarting')
    order by t.run_key, t.task_id, t.map_path for no key update of t),
  ended as (
    update task_hot t set state = c.state, worker = null, reason = c.reason, reason_code = c.code,
      try_number = t.try_number + c.again::int,
      max_tries = t.max_tries + c.again::int,
      losses = case when c.again then t.losses + 1 else 0 end,
      due_at = clock_timestamp() + make_interval(secs => c.delay),
      scheduled_at = case when c.again then clock_timestamp() else t.scheduled_at end,
      queued_at = case when c.again or c.cleared then null else t.queued_at end,
      started_at = case when c.cleared then null else t.started_at end,
      ended_at = case when c.again or c.cleared then null else clock_timestamp() end,
      rank = case when c.again then t.turn else t.rank end, keeps_slot = false,
      skips = string_to_array(c.skips, ',')
    from current c
    where t.run_key = c.run_key and t.task_id = c.task_id and t.map_path = c.map_path),
  closed as (
    update try_hot y set state = c.try_state, ended_at = clock_timestamp(), reason = c.reason,
      pid = coalesce(c.pid, y.pid), log = coalesce(c.log, y.log),
      exit_code = c.exit_code, signal = c.signal, peak_rss = c.peak_rss, cpu_time = c.cpu_time,
      code_hash = c.code_hash
    from current c
    where y.run_key = c.run_key and y.task_id = c.task_id and y.map_path = c.map_path
      and y.try_number = c.try_number),
  stored as (
    insert into xcom_hot (run_key, task_id, map_path, try_number, key, value)
    select run_key, task_id, map_path, try_number, 'return_value', value from current
    where value is not null
    on conflict on constraint xcom_hot_pkey do update set value = excluded.value),
  woken as (
    insert into wakeup (kind, run_key, task_id, name)
    select 'run', run_key, task_id, null from current
    union all
    select distinct 'pool', null::bigint, null, p.name
    from current c join pool p on p.name = c.pool
    where p.slots >= 0)
  select run_key, task_id, map_path, claim from current where not cleared;
end $$;
