-- What all migrations together make; written by `just schema`.

CREATE FUNCTION public.add_tasks(run_keys bigint[], task_ids text[], dag_ids text[], states text[], reasons text[], codes text[], profiles integer[], max_tries integer[], pools text[], pool_slots integer[], queues text[], executors text[], priorities integer[], run_limits integer[], dag_limits integer[], retry_delays double precision[], retry_backoffs double precision[], max_retry_delays double precision[], execution_timeouts double precision[], strides integer[], flows integer[], behind bigint[], places bigint[], fresh boolean) RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_nestloop TO 'off'
    AS $$
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

CREATE FUNCTION public.claim_tasks(by_worker bigint, on_host text, for_executor text, served text[], most integer, pins boolean) RETURNS TABLE(run_key bigint, task_id text, map_path integer[], claim integer, try_number integer, max_tries integer, losses integer, retry_delay double precision, retry_backoff double precision, max_retry_delay double precision, execution_timeout double precision, executor text, queue text, dag_id text, run_id text, run_type text, version integer, logical_date timestamp with time zone, data_interval_start timestamp with time zone, data_interval_end timestamp with time zone, run_after timestamp with time zone, started_at timestamp with time zone, conf text, file text, code_hash text, modules jsonb)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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

CREATE FUNCTION public.due_in() RETURNS TABLE(decide double precision, admit double precision, make double precision)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
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

CREATE FUNCTION public.end_runs(run_keys bigint[], states text[], reasons text[], codes text[]) RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_hashjoin TO 'off'
    AS $$
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

CREATE FUNCTION public.ensure_partitions(months integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.find_places(line_pools text[], line_executors text[], line_queues text[], line_priorities integer[], flow_lines integer[], flow_dags text[], flow_backfills boolean[], flow_alone boolean[], flow_strides integer[]) RETURNS bigint[]
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_hashjoin TO 'off'
    AS $$
-- The place of the first task of each flow, that is of a DAG (its backfills are a flow of their own)
-- in a line: in a queue where no pool is named, else in a pool. See flow.decide.turns.
-- A line's clock. For a queue it is the first place in it (index task_queue): workers take whatever
-- stands first. In a pool what stands first may be kept waiting by another limit, so it is the last
-- place of what occupies the pool (index task_pool), and the first one only when nothing does.
-- Raised tasks stand before all others, at negative places, and say nothing of a clock.
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

CREATE FUNCTION public.follow_tries(run_keys bigint[], task_ids text[]) RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_nestloop TO 'on'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
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

CREATE FUNCTION public.lock_runs(run_keys bigint[]) RETURNS TABLE(run_key bigint, active integer)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_hashjoin TO 'off'
    AS $$
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

CREATE FUNCTION public.new_run_key() RETURNS bigint
    LANGUAGE sql
    AS $$
  -- Milliseconds of database time, then a sequence: ordered in time, unique within a millisecond.
  select (extract(epoch from clock_timestamp()) * 1000)::bigint * 1048576
       + nextval('run_sequence') % 1048576
$$;

CREATE FUNCTION public.open_gates() RETURNS TABLE(now timestamp with time zone, served text[], unlimited text[])
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.queue_tasks(run_keys bigint[], task_ids text[], map_paths text[], flows integer[], behind bigint[], places bigint[]) RETURNS integer
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_hashjoin TO 'off'
    AS $$
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

CREATE FUNCTION public.report_tries(run_keys bigint[], task_ids text[], map_paths text[], claims integer[], states text[], try_states text[], reasons text[], codes text[], delays double precision[], agains boolean[], pids integer[], logs text[], exit_codes integer[], signals integer[], peaks bigint[], cpu_times double precision[], code_hashes text[], skips_ text[], values_ text[]) RETURNS TABLE(run_key bigint, task_id text, map_path integer[], claim integer)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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

CREATE FUNCTION public.run_key_floor(at timestamp with time zone) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  select (extract(epoch from at) * 1000)::bigint * 1048576
$$;

CREATE FUNCTION public.take_due(most integer) RETURNS TABLE(dag_id text, version integer, spec_hash text, cursor_at timestamp with time zone, max_active_runs integer, runs integer, running integer, unfinished integer, latest timestamp with time zone)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_hashjoin TO 'off'
    AS $$
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

CREATE FUNCTION public.take_runs(most integer, again interval, whole integer) RETURNS TABLE(wakeups integer, changed text[], tasks json, run_key bigint, dag_id text, spec_hash text, paused boolean, holds boolean, logical_date timestamp with time zone, started_at timestamp with time zone, past_key bigint, chained boolean, backfill boolean, selected text[], ignores_past boolean, priority integer, limited boolean)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);

CREATE TABLE public.audit (
    audit_id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    os_user text NOT NULL,
    db_role text DEFAULT SESSION_USER NOT NULL,
    host text NOT NULL,
    verb text NOT NULL,
    target text NOT NULL,
    before jsonb,
    after jsonb
);

ALTER TABLE public.audit ALTER COLUMN audit_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.backfill (
    backfill_id bigint NOT NULL,
    dag_id text NOT NULL,
    state text DEFAULT 'running'::text NOT NULL,
    tasks text[],
    run_order text NOT NULL,
    reprocess text NOT NULL,
    version text NOT NULL,
    max_active_runs integer NOT NULL,
    conf text,
    priority integer DEFAULT 0 NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT backfill_check CHECK (((state <> 'done'::text) OR (ended_at IS NOT NULL))),
    CONSTRAINT backfill_check1 CHECK (((state <> ALL (ARRAY['running'::text, 'paused'::text])) OR (ended_at IS NULL))),
    CONSTRAINT backfill_max_active_runs_check CHECK ((max_active_runs >= 1)),
    CONSTRAINT backfill_reprocess_check CHECK ((reprocess = ANY (ARRAY['none'::text, 'failed'::text, 'all'::text]))),
    CONSTRAINT backfill_run_order_check CHECK ((run_order = ANY (ARRAY['oldest'::text, 'newest'::text]))),
    CONSTRAINT backfill_state_check CHECK ((state = ANY (ARRAY['running'::text, 'paused'::text, 'cancelled'::text, 'done'::text]))),
    CONSTRAINT backfill_version_check CHECK ((version = ANY (ARRAY['latest'::text, 'run'::text])))
);

ALTER TABLE public.backfill ALTER COLUMN backfill_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.backfill_backfill_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.backfill_interval (
    backfill_id bigint NOT NULL,
    ordinal integer NOT NULL,
    dag_id text NOT NULL,
    data_interval_start timestamp with time zone NOT NULL,
    data_interval_end timestamp with time zone NOT NULL,
    action text NOT NULL,
    note text,
    run_key bigint,
    active boolean NOT NULL,
    CONSTRAINT backfill_interval_action_check CHECK ((action = ANY (ARRAY['create'::text, 'clear'::text, 'skip'::text]))),
    CONSTRAINT backfill_interval_check CHECK (((action <> 'skip'::text) OR (note IS NOT NULL))),
    CONSTRAINT backfill_interval_ordinal_check CHECK ((ordinal >= 1))
);

CREATE TABLE public.callback (
    callback_id bigint NOT NULL,
    run_key bigint NOT NULL,
    dag_id text NOT NULL,
    task_id text,
    map_path integer[] DEFAULT '{}'::integer[] NOT NULL,
    try_number integer DEFAULT 0 NOT NULL,
    max_tries integer DEFAULT 0 NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    executor text NOT NULL,
    queue text NOT NULL,
    worker bigint,
    losses integer DEFAULT 0 NOT NULL,
    given_up text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT callback_check CHECK (((given_up IS NULL) OR (worker IS NULL))),
    CONSTRAINT callback_kind_check CHECK ((kind = ANY (ARRAY['success'::text, 'failure'::text, 'retry'::text, 'skipped'::text])))
);

ALTER TABLE public.callback ALTER COLUMN callback_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.callback_callback_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE public.change_counter
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.connection (
    conn_id text NOT NULL,
    conn_type text NOT NULL,
    secret bytea NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.dag (
    dag_id text NOT NULL,
    bundle text DEFAULT 'local'::text NOT NULL,
    file text NOT NULL,
    line integer,
    present boolean DEFAULT true NOT NULL,
    paused boolean NOT NULL,
    version integer NOT NULL,
    schedule text NOT NULL,
    timezone text NOT NULL,
    catchup text NOT NULL,
    owner text NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    description text,
    max_active_runs integer NOT NULL,
    concurrency integer,
    pause_reason text,
    unpaused_at timestamp with time zone,
    cursor_at timestamp with time zone,
    next_start timestamp with time zone,
    next_end timestamp with time zone,
    next_run_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT dag_catchup_check CHECK ((catchup = ANY (ARRAY['false'::text, 'true'::text, 'none'::text]))),
    CONSTRAINT dag_check CHECK ((((next_run_at IS NULL) = (next_start IS NULL)) AND ((next_start IS NULL) = (next_end IS NULL)))),
    CONSTRAINT dag_check1 CHECK ((next_start <= next_end)),
    CONSTRAINT dag_concurrency_check CHECK ((concurrency >= 1)),
    CONSTRAINT dag_max_active_runs_check CHECK ((max_active_runs >= 1))
);

CREATE TABLE public.dag_evaluation (
    dag_id text NOT NULL,
    refresh_at timestamp with time zone NOT NULL,
    low integer NOT NULL,
    dry boolean NOT NULL,
    error text,
    error_since timestamp with time zone,
    traceback text,
    CONSTRAINT dag_evaluation_check CHECK (((error IS NULL) = (error_since IS NULL))),
    CONSTRAINT dag_evaluation_low_check CHECK ((low >= 0))
);

CREATE TABLE public.dag_file (
    path text NOT NULL,
    bundle text DEFAULT 'local'::text NOT NULL,
    content_hash text NOT NULL,
    conflicts text[] DEFAULT '{}'::text[] NOT NULL,
    parsed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seconds double precision DEFAULT 0 NOT NULL,
    error text,
    error_line integer,
    error_since timestamp with time zone,
    traceback text,
    output text,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    modules jsonb DEFAULT '{}'::jsonb NOT NULL,
    variables jsonb DEFAULT '{}'::jsonb NOT NULL,
    imports jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT dag_file_check CHECK (((error IS NULL) = (error_since IS NULL)))
);

CREATE TABLE public.dag_interval (
    dag_id text NOT NULL,
    data_interval_start timestamp with time zone NOT NULL,
    data_interval_end timestamp with time zone NOT NULL,
    run_after timestamp with time zone NOT NULL,
    CONSTRAINT dag_interval_check CHECK ((data_interval_start <= data_interval_end))
);

CREATE TABLE public.dag_version (
    dag_id text NOT NULL,
    number integer NOT NULL,
    spec_hash text NOT NULL,
    code_hash text NOT NULL,
    code text,
    modules jsonb DEFAULT '{}'::jsonb NOT NULL,
    bundle text NOT NULL,
    bundle_version text,
    max_active_tasks integer,
    pools jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT dag_version_code_check CHECK ((code = ANY (ARRAY['pinned'::text, 'latest'::text]))),
    CONSTRAINT dag_version_number_check CHECK ((number >= 1))
);

CREATE TABLE public.event_history (
    run_key bigint NOT NULL,
    event_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    task_id text,
    map_path integer[] NOT NULL,
    try_number integer,
    kind text NOT NULL,
    detail text NOT NULL
)
PARTITION BY RANGE (run_key);

CREATE TABLE public.event_hot (
    run_key bigint NOT NULL,
    event_id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    task_id text,
    map_path integer[] DEFAULT '{}'::integer[] NOT NULL,
    try_number integer,
    kind text NOT NULL,
    detail text DEFAULT ''::text NOT NULL
)
WITH (autovacuum_vacuum_threshold='10000', autovacuum_vacuum_scale_factor='0');

CREATE VIEW public.event AS
 SELECT event_hot.run_key,
    event_hot.event_id,
    event_hot.at,
    event_hot.task_id,
    event_hot.map_path,
    event_hot.try_number,
    event_hot.kind,
    event_hot.detail
   FROM public.event_hot
UNION ALL
 SELECT event_history.run_key,
    event_history.event_id,
    event_history.at,
    event_history.task_id,
    event_history.map_path,
    event_history.try_number,
    event_history.kind,
    event_history.detail
   FROM public.event_history;

ALTER TABLE public.event_hot ALTER COLUMN event_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.event_hot_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.parse_lease (
    path text NOT NULL,
    process_id bigint NOT NULL,
    until timestamp with time zone NOT NULL
);

CREATE TABLE public.pool (
    name text NOT NULL,
    slots integer NOT NULL,
    include_deferred boolean DEFAULT false NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    CONSTRAINT pool_slots_check CHECK ((slots >= '-1'::integer))
);

CREATE TABLE public.process (
    process_id bigint NOT NULL,
    role text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    heartbeat bigint DEFAULT 0 NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    lost_after double precision NOT NULL,
    draining boolean DEFAULT false NOT NULL,
    executor text,
    queues text[] DEFAULT '{}'::text[] NOT NULL,
    slots integer DEFAULT 0 NOT NULL,
    warnings jsonb DEFAULT '{}'::jsonb NOT NULL,
    ended_at timestamp with time zone,
    ended_reason text,
    CONSTRAINT process_check CHECK (((ended_at IS NULL) = (ended_reason IS NULL))),
    CONSTRAINT process_role_check CHECK ((role = ANY (ARRAY['parse'::text, 'schedule'::text, 'work'::text, 'trigger'::text])))
)
WITH (fillfactor='50');

ALTER TABLE public.process ALTER COLUMN process_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.process_process_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.run (
    run_key bigint DEFAULT public.new_run_key() NOT NULL,
    dag_id text NOT NULL,
    run_id text NOT NULL,
    run_type text NOT NULL,
    state text NOT NULL,
    version integer NOT NULL,
    logical_date timestamp with time zone NOT NULL,
    data_interval_start timestamp with time zone NOT NULL,
    data_interval_end timestamp with time zone NOT NULL,
    interval_run boolean NOT NULL,
    run_after timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    queued_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    conf text DEFAULT '{}'::text NOT NULL,
    reason text,
    reason_code text,
    note text,
    backfill_id bigint,
    selected text[],
    ignores_past boolean DEFAULT false NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    holds boolean DEFAULT false NOT NULL,
    archived boolean DEFAULT false NOT NULL,
    past_key bigint,
    chained boolean DEFAULT false NOT NULL,
    CONSTRAINT run_check CHECK ((data_interval_start <= data_interval_end)),
    CONSTRAINT run_check1 CHECK (((state = ANY (ARRAY['success'::text, 'failed'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT run_check2 CHECK (((state <> 'running'::text) OR (started_at IS NOT NULL))),
    CONSTRAINT run_check3 CHECK (((NOT archived) OR (ended_at IS NOT NULL))),
    CONSTRAINT run_run_type_check CHECK ((run_type = ANY (ARRAY['scheduled'::text, 'manual'::text, 'backfill'::text, 'asset'::text]))),
    CONSTRAINT run_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'success'::text, 'failed'::text])))
);

CREATE SEQUENCE public.run_sequence
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.spec (
    hash text NOT NULL,
    body text NOT NULL,
    head text
);

CREATE TABLE public.stopping (
    run_key bigint NOT NULL,
    task_id text NOT NULL,
    map_path integer[] DEFAULT '{}'::integer[] NOT NULL,
    claim integer NOT NULL,
    worker bigint NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.task_history (
    run_key bigint NOT NULL,
    task_id text NOT NULL,
    map_path integer[] DEFAULT '{}'::integer[] NOT NULL,
    dag_id text NOT NULL,
    state text NOT NULL,
    try_number integer DEFAULT 0 NOT NULL,
    max_tries integer DEFAULT 1 NOT NULL,
    claim integer DEFAULT 0 NOT NULL,
    losses integer DEFAULT 0 NOT NULL,
    pool text NOT NULL,
    pool_slots integer DEFAULT 1 NOT NULL,
    queue text NOT NULL,
    executor text NOT NULL,
    priority integer NOT NULL,
    rank bigint DEFAULT 0 NOT NULL,
    turn bigint DEFAULT 0 NOT NULL,
    stride integer DEFAULT 1000 NOT NULL,
    run_limit integer,
    dag_limit integer,
    keeps_slot boolean DEFAULT false NOT NULL,
    held boolean DEFAULT false NOT NULL,
    retry_delay double precision DEFAULT 0 NOT NULL,
    retry_backoff double precision DEFAULT 0 NOT NULL,
    max_retry_delay double precision,
    execution_timeout double precision,
    scheduled_at timestamp with time zone,
    queued_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    due_at timestamp with time zone,
    worker bigint,
    skips text[],
    stop_reason text,
    reason text,
    reason_code text,
    CONSTRAINT task_due CHECK (((state <> ALL (ARRAY['up_for_retry'::text, 'up_for_reschedule'::text])) OR (due_at IS NOT NULL))),
    CONSTRAINT task_ended CHECK (((state <> ALL (ARRAY['success'::text, 'failed'::text, 'skipped'::text, 'upstream_failed'::text, 'removed'::text])) OR (ended_at IS NOT NULL))),
    CONSTRAINT task_hot_dag_limit_check CHECK ((dag_limit >= 1)),
    CONSTRAINT task_hot_pool_slots_check CHECK ((pool_slots >= 1)),
    CONSTRAINT task_hot_run_limit_check CHECK ((run_limit >= 1)),
    CONSTRAINT task_hot_state_check CHECK ((state = ANY (ARRAY['none'::text, 'scheduled'::text, 'queued'::text, 'running'::text, 'success'::text, 'failed'::text, 'skipped'::text, 'up_for_retry'::text, 'up_for_reschedule'::text, 'deferred'::text, 'awaiting_input'::text, 'restarting'::text, 'upstream_failed'::text, 'removed'::text]))),
    CONSTRAINT task_owner CHECK (((state = ANY (ARRAY['running'::text, 'restarting'::text])) = (worker IS NOT NULL))),
    CONSTRAINT task_queued CHECK (((state <> 'queued'::text) OR ((queued_at IS NOT NULL) AND (try_number >= 1))))
)
PARTITION BY RANGE (run_key);

CREATE TABLE public.task_hot (
    run_key bigint NOT NULL,
    task_id text NOT NULL,
    map_path integer[] DEFAULT '{}'::integer[] NOT NULL,
    dag_id text NOT NULL,
    state text NOT NULL,
    try_number integer DEFAULT 0 NOT NULL,
    max_tries integer DEFAULT 1 NOT NULL,
    claim integer DEFAULT 0 NOT NULL,
    losses integer DEFAULT 0 NOT NULL,
    pool text NOT NULL,
    pool_slots integer DEFAULT 1 NOT NULL,
    queue text NOT NULL,
    executor text NOT NULL,
    priority integer NOT NULL,
    rank bigint DEFAULT 0 NOT NULL,
    turn bigint DEFAULT 0 NOT NULL,
    stride integer DEFAULT 1000 NOT NULL,
    run_limit integer,
    dag_limit integer,
    keeps_slot boolean DEFAULT false NOT NULL,
    held boolean DEFAULT false NOT NULL,
    retry_delay double precision DEFAULT 0 NOT NULL,
    retry_backoff double precision DEFAULT 0 NOT NULL,
    max_retry_delay double precision,
    execution_timeout double precision,
    scheduled_at timestamp with time zone,
    queued_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    due_at timestamp with time zone,
    worker bigint,
    skips text[],
    stop_reason text,
    reason text,
    reason_code text,
    CONSTRAINT task_due CHECK (((state <> ALL (ARRAY['up_for_retry'::text, 'up_for_reschedule'::text])) OR (due_at IS NOT NULL))),
    CONSTRAINT task_ended CHECK (((state <> ALL (ARRAY['success'::text, 'failed'::text, 'skipped'::text, 'upstream_failed'::text, 'removed'::text])) OR (ended_at IS NOT NULL))),
    CONSTRAINT task_hot_dag_limit_check CHECK ((dag_limit >= 1)),
    CONSTRAINT task_hot_pool_slots_check CHECK ((pool_slots >= 1)),
    CONSTRAINT task_hot_run_limit_check CHECK ((run_limit >= 1)),
    CONSTRAINT task_hot_state_check CHECK ((state = ANY (ARRAY['none'::text, 'scheduled'::text, 'queued'::text, 'running'::text, 'success'::text, 'failed'::text, 'skipped'::text, 'up_for_retry'::text, 'up_for_reschedule'::text, 'deferred'::text, 'awaiting_input'::text, 'restarting'::text, 'upstream_failed'::text, 'removed'::text]))),
    CONSTRAINT task_owner CHECK (((state = ANY (ARRAY['running'::text, 'restarting'::text])) = (worker IS NOT NULL))),
    CONSTRAINT task_queued CHECK (((state <> 'queued'::text) OR ((queued_at IS NOT NULL) AND (try_number >= 1))))
)
WITH (fillfactor='70', autovacuum_vacuum_threshold='10000', autovacuum_vacuum_scale_factor='0', autovacuum_analyze_threshold='10000', autovacuum_analyze_scale_factor='0');

CREATE VIEW public.task AS
 SELECT task_hot.run_key,
    task_hot.task_id,
    task_hot.map_path,
    task_hot.dag_id,
    task_hot.state,
    task_hot.try_number,
    task_hot.max_tries,
    task_hot.claim,
    task_hot.losses,
    task_hot.pool,
    task_hot.pool_slots,
    task_hot.queue,
    task_hot.executor,
    task_hot.priority,
    task_hot.rank,
    task_hot.turn,
    task_hot.stride,
    task_hot.run_limit,
    task_hot.dag_limit,
    task_hot.keeps_slot,
    task_hot.held,
    task_hot.retry_delay,
    task_hot.retry_backoff,
    task_hot.max_retry_delay,
    task_hot.execution_timeout,
    task_hot.scheduled_at,
    task_hot.queued_at,
    task_hot.started_at,
    task_hot.ended_at,
    task_hot.due_at,
    task_hot.worker,
    task_hot.skips,
    task_hot.stop_reason,
    task_hot.reason,
    task_hot.reason_code
   FROM public.task_hot
UNION ALL
 SELECT task_history.run_key,
    task_history.task_id,
    task_history.map_path,
    task_history.dag_id,
    task_history.state,
    task_history.try_number,
    task_history.max_tries,
    task_history.claim,
    task_history.losses,
    task_history.pool,
    task_history.pool_slots,
    task_history.queue,
    task_history.executor,
    task_history.priority,
    task_history.rank,
    task_history.turn,
    task_history.stride,
    task_history.run_limit,
    task_history.dag_limit,
    task_history.keeps_slot,
    task_history.held,
    task_history.retry_delay,
    task_history.retry_backoff,
    task_history.max_retry_delay,
    task_history.execution_timeout,
    task_history.scheduled_at,
    task_history.queued_at,
    task_history.started_at,
    task_history.ended_at,
    task_history.due_at,
    task_history.worker,
    task_history.skips,
    task_history.stop_reason,
    task_history.reason,
    task_history.reason_code
   FROM public.task_history;

CREATE TABLE public.try_history (
    run_key bigint NOT NULL,
    task_id text NOT NULL,
    map_path integer[] DEFAULT '{}'::integer[] NOT NULL,
    try_number integer NOT NULL,
    claim integer NOT NULL,
    state text NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    worker bigint NOT NULL,
    host text NOT NULL,
    pid integer,
    executor text NOT NULL,
    queue text NOT NULL,
    bundle text,
    bundle_version text,
    code_hash text,
    exit_code integer,
    signal integer,
    reason text,
    peak_rss bigint,
    cpu_time double precision,
    log text,
    CONSTRAINT try_ended CHECK (((state = ANY (ARRAY['running'::text, 'deferred'::text, 'up_for_reschedule'::text])) = (ended_at IS NULL))),
    CONSTRAINT try_hot_state_check CHECK ((state = ANY (ARRAY['running'::text, 'deferred'::text, 'up_for_reschedule'::text, 'success'::text, 'failed'::text, 'skipped'::text, 'lost'::text, 'lease_expired'::text, 'drained'::text, 'code_mismatch'::text, 'restarted'::text]))),
    CONSTRAINT try_hot_try_number_check CHECK ((try_number >= 1))
)
PARTITION BY RANGE (run_key);

CREATE TABLE public.try_hot (
    run_key bigint NOT NULL,
    task_id text NOT NULL,
    map_path integer[] DEFAULT '{}'::integer[] NOT NULL,
    try_number integer NOT NULL,
    claim integer NOT NULL,
    state text NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    worker bigint NOT NULL,
    host text NOT NULL,
    pid integer,
    executor text NOT NULL,
    queue text NOT NULL,
    bundle text,
    bundle_version text,
    code_hash text,
    exit_code integer,
    signal integer,
    reason text,
    peak_rss bigint,
    cpu_time double precision,
    log text,
    CONSTRAINT try_ended CHECK (((state = ANY (ARRAY['running'::text, 'deferred'::text, 'up_for_reschedule'::text])) = (ended_at IS NULL))),
    CONSTRAINT try_hot_state_check CHECK ((state = ANY (ARRAY['running'::text, 'deferred'::text, 'up_for_reschedule'::text, 'success'::text, 'failed'::text, 'skipped'::text, 'lost'::text, 'lease_expired'::text, 'drained'::text, 'code_mismatch'::text, 'restarted'::text]))),
    CONSTRAINT try_hot_try_number_check CHECK ((try_number >= 1))
)
WITH (fillfactor='70', autovacuum_vacuum_threshold='10000', autovacuum_vacuum_scale_factor='0');

CREATE VIEW public.try AS
 SELECT try_hot.run_key,
    try_hot.task_id,
    try_hot.map_path,
    try_hot.try_number,
    try_hot.claim,
    try_hot.state,
    try_hot.started_at,
    try_hot.ended_at,
    try_hot.worker,
    try_hot.host,
    try_hot.pid,
    try_hot.executor,
    try_hot.queue,
    try_hot.bundle,
    try_hot.bundle_version,
    try_hot.code_hash,
    try_hot.exit_code,
    try_hot.signal,
    try_hot.reason,
    try_hot.peak_rss,
    try_hot.cpu_time,
    try_hot.log
   FROM public.try_hot
UNION ALL
 SELECT try_history.run_key,
    try_history.task_id,
    try_history.map_path,
    try_history.try_number,
    try_history.claim,
    try_history.state,
    try_history.started_at,
    try_history.ended_at,
    try_history.worker,
    try_history.host,
    try_history.pid,
    try_history.executor,
    try_history.queue,
    try_history.bundle,
    try_history.bundle_version,
    try_history.code_hash,
    try_history.exit_code,
    try_history.signal,
    try_history.reason,
    try_history.peak_rss,
    try_history.cpu_time,
    try_history.log
   FROM public.try_history;

CREATE TABLE public.variable (
    key text NOT NULL,
    value bytea NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.wakeup (
    id bigint NOT NULL,
    kind text NOT NULL,
    run_key bigint,
    task_id text,
    name text,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT wakeup_check CHECK (((kind = 'run'::text) = (run_key IS NOT NULL))),
    CONSTRAINT wakeup_check1 CHECK (((kind = 'run'::text) = (name IS NULL))),
    CONSTRAINT wakeup_kind_check CHECK ((kind = ANY (ARRAY['run'::text, 'dag'::text, 'pool'::text, 'queue'::text])))
)
WITH (autovacuum_vacuum_threshold='10000', autovacuum_vacuum_scale_factor='0');

ALTER TABLE public.wakeup ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.wakeup_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.xcom_history (
    run_key bigint NOT NULL,
    task_id text NOT NULL,
    map_path integer[] DEFAULT '{}'::integer[] NOT NULL,
    try_number integer NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
PARTITION BY RANGE (run_key);

CREATE TABLE public.xcom_hot (
    run_key bigint NOT NULL,
    task_id text NOT NULL,
    map_path integer[] DEFAULT '{}'::integer[] NOT NULL,
    try_number integer NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (autovacuum_vacuum_threshold='10000', autovacuum_vacuum_scale_factor='0');

CREATE VIEW public.xcom AS
 SELECT xcom_hot.run_key,
    xcom_hot.task_id,
    xcom_hot.map_path,
    xcom_hot.try_number,
    xcom_hot.key,
    xcom_hot.value,
    xcom_hot.created_at
   FROM public.xcom_hot
UNION ALL
 SELECT xcom_history.run_key,
    xcom_history.task_id,
    xcom_history.map_path,
    xcom_history.try_number,
    xcom_history.key,
    xcom_history.value,
    xcom_history.created_at
   FROM public.xcom_history;

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (audit_id);

ALTER TABLE ONLY public.backfill_interval
    ADD CONSTRAINT backfill_interval_pkey PRIMARY KEY (backfill_id, ordinal);

ALTER TABLE ONLY public.backfill
    ADD CONSTRAINT backfill_pkey PRIMARY KEY (backfill_id);

ALTER TABLE ONLY public.callback
    ADD CONSTRAINT callback_pkey PRIMARY KEY (callback_id);

ALTER TABLE ONLY public.connection
    ADD CONSTRAINT connection_pkey PRIMARY KEY (conn_id);

ALTER TABLE ONLY public.dag_evaluation
    ADD CONSTRAINT dag_evaluation_pkey PRIMARY KEY (dag_id);

ALTER TABLE ONLY public.dag_file
    ADD CONSTRAINT dag_file_pkey PRIMARY KEY (path);

ALTER TABLE ONLY public.dag_interval
    ADD CONSTRAINT dag_interval_pkey PRIMARY KEY (dag_id, data_interval_start);

ALTER TABLE ONLY public.dag
    ADD CONSTRAINT dag_pkey PRIMARY KEY (dag_id);

ALTER TABLE ONLY public.dag_version
    ADD CONSTRAINT dag_version_pkey PRIMARY KEY (dag_id, number);

ALTER TABLE ONLY public.event_history
    ADD CONSTRAINT event_history_pkey PRIMARY KEY (run_key, event_id);

ALTER TABLE ONLY public.event_hot
    ADD CONSTRAINT event_hot_pkey PRIMARY KEY (run_key, event_id);

ALTER TABLE ONLY public.parse_lease
    ADD CONSTRAINT parse_lease_pkey PRIMARY KEY (path);

ALTER TABLE ONLY public.pool
    ADD CONSTRAINT pool_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.process
    ADD CONSTRAINT process_pkey PRIMARY KEY (process_id);

ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_dag_id_run_id_key UNIQUE (dag_id, run_id);

ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (run_key);

ALTER TABLE ONLY public.spec
    ADD CONSTRAINT spec_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.stopping
    ADD CONSTRAINT stopping_pkey PRIMARY KEY (run_key, task_id, map_path);

ALTER TABLE ONLY public.task_history
    ADD CONSTRAINT task_history_pkey PRIMARY KEY (run_key, task_id, map_path);

ALTER TABLE ONLY public.task_hot
    ADD CONSTRAINT task_hot_pkey PRIMARY KEY (run_key, task_id, map_path);

ALTER TABLE ONLY public.try_history
    ADD CONSTRAINT try_history_pkey PRIMARY KEY (run_key, task_id, map_path, try_number);

ALTER TABLE ONLY public.try_hot
    ADD CONSTRAINT try_hot_pkey PRIMARY KEY (run_key, task_id, map_path, try_number);

ALTER TABLE ONLY public.variable
    ADD CONSTRAINT variable_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.wakeup
    ADD CONSTRAINT wakeup_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.xcom_history
    ADD CONSTRAINT xcom_history_pkey PRIMARY KEY (run_key, task_id, map_path, try_number, key);

ALTER TABLE ONLY public.xcom_hot
    ADD CONSTRAINT xcom_hot_pkey PRIMARY KEY (run_key, task_id, map_path, try_number, key);

CREATE INDEX audit_at ON public.audit USING btree (at);

CREATE INDEX audit_target ON public.audit USING btree (target COLLATE "C");

CREATE INDEX backfill_active ON public.backfill USING btree (dag_id) WHERE (ended_at IS NULL);

CREATE UNIQUE INDEX backfill_of_interval ON public.backfill_interval USING btree (dag_id, data_interval_start) WHERE active;

CREATE INDEX backfill_open ON public.backfill_interval USING btree (backfill_id, ordinal) WHERE ((action <> 'skip'::text) AND (run_key IS NULL));

CREATE INDEX callback_taken ON public.callback USING btree (worker) WHERE (worker IS NOT NULL);

CREATE INDEX callback_waiting ON public.callback USING btree (queue, callback_id) WHERE ((worker IS NULL) AND (given_up IS NULL));

CREATE INDEX dag_due ON public.dag USING btree (next_run_at, dag_id) WHERE (present AND (NOT paused));

CREATE INDEX dag_file_index ON public.dag USING btree (file);

CREATE INDEX dag_version_spec ON public.dag_version USING btree (spec_hash);

CREATE INDEX process_alive ON public.process USING btree (role) WHERE (ended_at IS NULL);

CREATE INDEX run_by_date ON public.run USING btree (dag_id, logical_date DESC, run_key DESC);

CREATE INDEX run_by_interval ON public.run USING btree (data_interval_start);

CREATE INDEX run_by_type ON public.run USING btree (run_type, run_key) WHERE (run_type <> 'scheduled'::text);

CREATE INDEX run_ended ON public.run USING btree (ended_at) WHERE (state = ANY (ARRAY['success'::text, 'failed'::text]));

CREATE INDEX run_failed ON public.run USING btree (run_key) WHERE (state = 'failed'::text);

CREATE INDEX run_of_backfill ON public.run USING btree (backfill_id) WHERE ((backfill_id IS NOT NULL) AND (state = ANY (ARRAY['queued'::text, 'running'::text])));

CREATE UNIQUE INDEX run_of_interval ON public.run USING btree (dag_id, data_interval_start) WHERE interval_run;

CREATE INDEX run_queued ON public.run USING btree (dag_id, logical_date, run_key) WHERE (state = 'queued'::text);

CREATE INDEX run_unfinished ON public.run USING btree (dag_id, run_key) WHERE (state = ANY (ARRAY['queued'::text, 'running'::text]));

CREATE INDEX stopping_worker ON public.stopping USING btree (worker);

CREATE INDEX task_failed ON public.task_hot USING btree (ended_at) WHERE (state = 'failed'::text);

CREATE INDEX task_keeping ON public.task_hot USING btree (pool) WHERE keeps_slot;

CREATE INDEX task_pool ON public.task_hot USING btree (pool, state, priority DESC, turn, run_key) WHERE (state = ANY (ARRAY['scheduled'::text, 'queued'::text, 'running'::text, 'restarting'::text]));

CREATE INDEX task_queue ON public.task_hot USING btree (executor, queue, priority DESC, rank, run_key, task_id) WHERE (state = 'queued'::text);

CREATE INDEX task_skips ON public.task_hot USING btree (run_key) WHERE (skips IS NOT NULL);

CREATE INDEX task_unfinished ON public.task_hot USING btree (dag_id, run_key, state, priority DESC, rank) WHERE (state <> ALL (ARRAY['success'::text, 'failed'::text, 'skipped'::text, 'upstream_failed'::text, 'removed'::text, 'none'::text]));

CREATE INDEX try_open ON public.try_hot USING btree (worker) WHERE (ended_at IS NULL);

CREATE INDEX wakeup_due ON public.wakeup USING btree (kind, due_at, id);

ALTER TABLE ONLY public.backfill
    ADD CONSTRAINT backfill_dag_id_fkey FOREIGN KEY (dag_id) REFERENCES public.dag(dag_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.backfill_interval
    ADD CONSTRAINT backfill_interval_backfill_id_fkey FOREIGN KEY (backfill_id) REFERENCES public.backfill(backfill_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.dag_evaluation
    ADD CONSTRAINT dag_evaluation_dag_id_fkey FOREIGN KEY (dag_id) REFERENCES public.dag(dag_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.dag_interval
    ADD CONSTRAINT dag_interval_dag_id_fkey FOREIGN KEY (dag_id) REFERENCES public.dag(dag_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.dag_version
    ADD CONSTRAINT dag_version_dag_id_fkey FOREIGN KEY (dag_id) REFERENCES public.dag(dag_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.dag_version
    ADD CONSTRAINT dag_version_spec_hash_fkey FOREIGN KEY (spec_hash) REFERENCES public.spec(hash);

ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_dag_id_version_fkey FOREIGN KEY (dag_id, version) REFERENCES public.dag_version(dag_id, number);
