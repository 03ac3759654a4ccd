// Checks of budgets (docs/budgets.md): the run that began a budget has its rows, no budget outlives the runs of its chain, and
// `steps` and `runs` equal the counts of the tree. Only the sums contain what steps report as spent, so only its form is checked.

import type { Row } from '../description/values.ts'
import { NEWEST_OF_CHAIN } from '../tables/runs.ts'
import type { Snapshot, Violations } from './check.ts'

/** Runs in one read. */
const PAGE = 200
/** Budgets whose trees are counted in one walk over the runs. */
const COUNTED_AT_ONCE = 10_000

/** Checks that the budgets which began with runs of a range of ids have their rows. */
export async function* runBudgets(snapshot: Snapshot, [from, to]: readonly [string, string]): Violations {
  const runs = (await snapshot.rows(
    `SELECT id, budgets, coalesce(chain_id, id) FROM runs WHERE id > ? AND id <= ? AND budgets IS NOT NULL
      AND (chain_id IS NULL OR continued_as IS NULL)`,
    [from, to],
  )) as [string, string, string][]
  for (let at = 0; at < runs.length; at += PAGE) {
    const own = runs.slice(at, at + PAGE).filter(([, budgets, chainId]) => idsIn(budgets).at(-1) === chainId)
    if (own.length === 0) continue
    const ids = Array.from({ length: PAGE }, (_, i) => own[Math.min(i, own.length - 1)]?.[2] as string)
    const counts = (await snapshot.rows(
      `SELECT id, count(*) FROM budgets WHERE id IN (${ids.map(() => '?').join(', ')}) AND name IN ('runs', 'steps') GROUP BY id`,
      ids,
    )) as [string, number][]
    const complete = new Set(counts.filter(([, count]) => Number(count) === 2).map(([id]) => id))
    for (const [id, , chainId] of own) {
      if (!complete.has(chainId))
        yield { check: 'run.budget', subject: id, message: 'has a budget that counts no runs or no steps' }
    }
  }
}

const STRAY = `SELECT b.id FROM budgets b WHERE b.name = 'runs' AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = b.id)
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.chain_id = b.id AND ${NEWEST_OF_CHAIN}) LIMIT 100`
const MALFORMED = `SELECT id, name FROM budgets WHERE whole < 0 OR billionths < 0 OR billionths >= 1000000000
  OR (name IN ('steps', 'runs') AND billionths <> 0) LIMIT 100`

/** Checks the budgets themselves, and what the engine counts of each. */
export async function* budgetContents(snapshot: Snapshot): Violations {
  for (const [id] of await snapshot.rows(STRAY))
    yield { check: 'budget.run', subject: String(id), message: 'is a budget whose run is gone' }
  for (const [id, name] of await snapshot.rows(MALFORMED))
    yield { check: 'budget.sum', subject: String(id), message: `has an invalid sum of ${name}` }
  const [mark] = await snapshot.rows(`SELECT up_to FROM prune_marks WHERE what = 'runs'`)
  const prunedUpTo = Number(mark?.[0] ?? 0)
  for (let after = ''; ; ) {
    const trees = await treesBehind(snapshot, after, prunedUpTo)
    if (trees.size === 0) return
    await count(snapshot, trees)
    for (const [id, tree] of trees) yield* differences(id, tree)
    after = [...trees.keys()].at(-1) as string
  }
}

/** The counts of a budget, and the counts of the tree under it. */
interface Tree {
  counted: Record<string, number>
  found: { steps: number; runs: number }
  /** Runs of the tree may have been removed, with what they counted. */
  mayHaveLost: boolean
}

async function treesBehind(snapshot: Snapshot, after: string, prunedUpTo: number): Promise<Map<string, Tree>> {
  const rows = (await snapshot.rows(
    `SELECT b.id, b.whole, s.whole, r.created_at,
        (SELECT max(erased_at) FROM erased_runs WHERE erased_runs.namespace = r.namespace)
      FROM budgets b JOIN budgets s ON s.id = b.id AND s.name = 'steps' LEFT JOIN runs r ON r.id = b.id
      WHERE b.name = 'runs' AND b.id > ? ORDER BY b.id LIMIT ${COUNTED_AT_ONCE}`,
    [after],
  )) as [string, number, number, number | null, number | null][]
  return new Map(
    rows.map(([id, runs, steps, createdAt, erasedAt]) => {
      const mayHaveLost = createdAt === null || createdAt < prunedUpTo || createdAt <= Number(erasedAt ?? -1)
      return [id, { counted: { runs, steps }, found: { runs: 0, steps: 0 }, mayHaveLost }]
    }),
  )
}

/**
 * Walks all runs under budgets. A link does not count as another run, and a step that a fork carries does not count as another
 * step.
 */
async function count(snapshot: Snapshot, trees: ReadonlyMap<string, Tree>): Promise<void> {
  for (let after = ''; ; ) {
    const rows = (await snapshot.rows(
      `SELECT r.id, r.budgets, r.continued_from,
          (SELECT count(*) FROM steps s WHERE s.run_id = r.id AND s.carried IS NULL)
        FROM runs r WHERE r.budgets IS NOT NULL AND r.id > ? ORDER BY r.id LIMIT ${PAGE}`,
      [after],
    )) as [string, string, string | null, number][]
    for (const [, budgets, continuedFrom, steps] of rows)
      for (const id of idsIn(budgets)) {
        const tree = trees.get(id)
        if (!tree) continue
        tree.found.steps += Number(steps)
        if (continuedFrom === null) tree.found.runs++
      }
    if (rows.length < PAGE) return
    after = (rows.at(-1) as Row)[0] as string
  }
}

function* differences(id: string, { counted, found, mayHaveLost }: Tree) {
  for (const name of ['runs', 'steps'] as const) {
    const sum = Number(counted[name])
    if (sum === found[name] || (mayHaveLost && sum > found[name])) continue
    yield { check: 'budget.counted', subject: id, message: `counts ${sum} ${name}, and its tree has ${found[name]}` }
  }
}

/** The ids of the budgets that a run is under; none if the text cannot be read, which `run.readable` reports. */
function idsIn(budgets: string): string[] {
  try {
    return (JSON.parse(budgets) as { id: string }[]).map(({ id }) => id)
  } catch {
    return []
  }
}
