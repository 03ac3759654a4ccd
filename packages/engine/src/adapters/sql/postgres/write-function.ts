// The function that writes a batch of units inside PostgreSQL, made from the shared SQL. One call is one statement and
// one transaction: between its first lock and its commit nothing waits for the engine, so that an engine that freezes
// in between holds nobody up.
//
// Writers go one after the other, cluster-wide, under one advisory lock: what SQLite's single writer gives for free.
// Every check then sees all that was committed before and nothing half done, positions rise in commit order, and no two
// writers can deadlock. A batch carries the units of many callers, so the lock is taken once for hundreds of them.

import { createHash } from 'node:crypto'
import { EVENT_COLUMNS } from '../tables/events.ts'
import type { CheckName, OpName } from '../tables/operations.ts'
import { RUN_COLUMNS } from '../tables/runs.ts'
import { CHECK_SQL, MUST_CHANGE, OP_SQL, WAKE_SQL } from '../write/statements.ts'
import { fromArray } from './placeholders.ts'

/** Classes of this database's advisory locks; the second key is the schema's own. */
export const LOCKS = { migrate: 8_250_001, write: 8_250_002 } as const

/** Takes the writers' lock of the schema until the transaction ends. */
export const TAKE_WRITE_LOCK = `pg_advisory_xact_lock(${LOCKS.write}, hashtext(current_schema()))`

/** Checks whose rows are compared as a set; of the others one value, or none, is expected. */
const SETS: ReadonlySet<CheckName> = new Set(['live', 'waiters'])

/** When something began that later events are seen from, and when an event came: both in ms, at that place of a row. */
const TIMES: Partial<Record<OpName, number>> = {
  'run.insert': RUN_COLUMNS.indexOf('created_at'),
  'event.insert': EVENT_COLUMNS.indexOf('received_at'),
}

/** Clocks of engines differ by milliseconds. What is further apart was set back, and stays as it is. */
const SKEW_MS_MAX = 1000

const BODY = writeBody()

/** Named after what it does, so that engines of two versions work side by side, each with its own. */
export const WRITE_FUNCTION = `perdure_write_${createHash('sha256').update(BODY).digest('hex').slice(0, 12)}`

/**
 * `units`: each unit's number of values behind this one, its number of checks, then per check name, number of
 * parameters, number of expected values, and those; then per operation number of parameters, name, and those. Answers
 * for each unit 0 when it is written, or the position of its first check that does not hold, from 1: nothing of it is
 * written then. A writer numbers its batches upwards and sends one again when its answer was lost: a batch that was
 * written is not written again, also when an earlier copy of it arrives late, but answered as it was then.
 */
export const CREATE_WRITE_FUNCTION = `CREATE OR REPLACE FUNCTION ${WRITE_FUNCTION}(writer text, batch bigint, units text[])
RETURNS int[] LANGUAGE plpgsql AS $body$${BODY}$body$`

function writeBody(): string {
  return `
#variable_conflict use_column
DECLARE
  a text[] := units;
  n int := coalesce(array_length(units, 1), 0);
  p int := 1;
  unit_end int;
  checks int;
  k int;
  params int;
  expected int;
  name text;
  value text;
  got text[];
  want text[];
  failed int;
  changed bigint;
  latest bigint;
  answers int[] := '{}';
BEGIN
  PERFORM ${TAKE_WRITE_LOCK};
  SELECT w.answers INTO answers FROM writers AS w WHERE w.writer = $1 AND w.batch >= $2;
  IF FOUND THEN RETURN answers; END IF;
  answers := '{}';
  SELECT coalesce(max(w.latest), 0) INTO latest FROM writers AS w;
  WHILE p <= n LOOP
    unit_end := p + a[p]::int;
    checks := a[p + 1]::int;
    p := p + 2;
    failed := 0;
    k := 0;
    WHILE k < checks LOOP
      k := k + 1;
      name := a[p];
      params := a[p + 1]::int;
      expected := a[p + 2]::int;
      p := p + 3;
      CASE name
${Object.entries(CHECK_SQL)
  .map(([name, sql]) => checkCase(name as CheckName, sql))
  .join('\n')}
      END CASE;
      EXIT WHEN failed > 0;
      p := p + params + expected;
    END LOOP;
    answers := answers || failed;
    IF failed = 0 THEN
      WHILE p <= unit_end LOOP
        params := a[p]::int;
        name := a[p + 1];
        p := p + 2;
        CASE name
${Object.entries(OP_SQL)
  .map(([name, sql]) => opCase(name as OpName, sql))
  .join('\n')}
        WHEN 'step.wake' THEN
          ${fromArray(WAKE_SQL.step).sql};
          IF FOUND THEN
            ${atTail(WAKE_SQL.frame)};
            ${atTail(WAKE_SQL.run)};
          END IF;
        END CASE;
        p := p + params;
      END LOOP;
    END IF;
    p := unit_end + 1;
  END LOOP;
  INSERT INTO writers (writer, batch, answers, latest) VALUES ($1, $2, answers, latest)
    ON CONFLICT ON CONSTRAINT writers_pkey
    DO UPDATE SET batch = excluded.batch, answers = excluded.answers, latest = excluded.latest, at = now();
  RETURN answers;
END`
}

/** Time and run id are the fifth and sixth parameter of a wake. */
function atTail(sql: string): string {
  return fromArray(sql).sql.replace(/a\[p \+ (\d)\]/g, (_, at: string) => `a[p + ${4 + Number(at)}]`)
}

function checkCase(name: CheckName, text: string): string {
  const { sql } = fromArray(text)
  if (SETS.has(name)) return setCase(name, sql)
  // Of the rest the expected value, if there is one, comes behind the parameters.
  const [, column] = /^SELECT (\w+)/.exec(sql) as unknown as [string, string]
  if (column === '1')
    return `      WHEN '${name}' THEN
        PERFORM ${sql.replace(/^SELECT /, '')};
        IF FOUND THEN failed := k; END IF;`
  return `      WHEN '${name}' THEN
        value := NULL;
        SELECT s.${column}::text INTO value FROM (${sql}) AS s;
        IF value IS DISTINCT FROM a[p + params] THEN failed := k; END IF;`
}

/** Rows as texts, in byte order, against the expected ones. */
function setCase(name: CheckName, sql: string): string {
  const [, list] = /^SELECT (.+?) FROM/.exec(sql) as unknown as [string, string]
  const columns = list.split(', ')
  const row = columns.map(column => `q.${column}::text`).join(` || ' ' || `)
  const wanted = columns.map((_, i) => `a[w + ${i}]`).join(` || ' ' || `)
  return `      WHEN '${name}' THEN
        SELECT array_agg(s.t ORDER BY s.t COLLATE "C") INTO got FROM (SELECT ${row} AS t FROM (${sql}) AS q) AS s;
        SELECT array_agg(s.t ORDER BY s.t COLLATE "C") INTO want FROM (SELECT ${wanted} AS t
          FROM generate_series(p + params, p + params + expected - 1, ${columns.length}) AS w) AS s;
        IF got IS DISTINCT FROM want THEN failed := k; END IF;`
}

/**
 * A run sees the events that came since it was created, by their times. So that the clocks of two engines cannot hide one
 * from it, no event is stored with a time a moment before anything that was committed earlier.
 */
function timed(name: OpName, sql: string): string {
  const place = TIMES[name]
  if (place === undefined) return sql
  const time = `a[p + ${place}]::bigint`
  const risen = `CASE WHEN latest - ${time} <= ${SKEW_MS_MAX} THEN greatest(${time}, latest) ELSE ${time} END`
  return `${name === 'event.insert' ? sql.replace(time, risen) : sql};
          latest := greatest(${time}, latest)`
}

function opCase(name: OpName, text: string): string {
  const sql = timed(name, fromArray(text).sql)
  if (!MUST_CHANGE.has(name)) return `        WHEN '${name}' THEN ${sql};`
  return `        WHEN '${name}' THEN ${sql};
          GET DIAGNOSTICS changed = ROW_COUNT;
          IF changed = 0 THEN RAISE EXCEPTION '${name} met no row it may change'; END IF;`
}
