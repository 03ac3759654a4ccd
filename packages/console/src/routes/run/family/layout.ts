// The places of the nodes in a graph whose edges run from left to right: a tree with a few more edges. Pure.

export interface Edge {
  from: string
  to: string
}

/** Column and row of a node. A parent is placed in the middle of its children, so rows may be halves. */
export interface Place {
  layer: number
  row: number
}

export interface Layout {
  places: ReadonlyMap<string, Place>
  /** The number of columns and rows of the graph. */
  layers: number
  rows: number
}

/** Places every node. The first one is the root; if several edges lead to a node, the first decides its place. */
export function layoutOf(ids: readonly string[], edges: readonly Edge[]): Layout {
  const places = new Map<string, Place>()
  const children = childrenOf(ids, edges)
  let nextRow = 0
  const place = (id: string, layer: number): number => {
    const rows = (children.get(id) ?? []).map(child => place(child, layer + 1))
    const row = rows.length === 0 ? nextRow++ : ((rows[0] as number) + (rows.at(-1) as number)) / 2
    places.set(id, { layer, row })
    return row
  }
  const below = new Set([...children.values()].flat())
  for (const id of ids) {
    if (below.has(id)) continue
    // A further root is placed to the left of the node that it leads to, as close as possible.
    const target = edges.filter(({ from }) => from === id).flatMap(({ to }) => places.get(to) ?? [])[0]
    if (target === undefined) place(id, 0)
    else {
      const layer = target.layer - 1
      const row = freeRow(places, { layer, row: target.row })
      places.set(id, { layer, row })
      // Later nodes go below.
      nextRow = Math.max(nextRow, Math.ceil(row) + 1)
      for (const child of children.get(id) ?? []) place(child, target.layer)
    }
  }
  return fromZero(places)
}

/** Returns the children of each node in the tree that decides the places. The first node has no parent. */
function childrenOf(ids: readonly string[], edges: readonly Edge[]): Map<string, string[]> {
  const known = new Set(ids)
  const parents = new Map<string, string>()
  const children = new Map<string, string[]>()
  for (const { from, to } of edges) {
    if (!known.has(from) || !known.has(to) || parents.has(to) || to === ids[0] || isBelow(from, to, parents)) continue
    parents.set(to, from)
    children.set(from, [...(children.get(from) ?? []), to])
  }
  return children
}

/** Whether a node is another one, or is below it. */
function isBelow(id: string, other: string, parents: ReadonlyMap<string, string>): boolean {
  for (let at: string | undefined = id; at !== undefined; at = parents.get(at)) if (at === other) return true
  return false
}

/** Returns the free row of the layer nearest to a place. */
function freeRow(places: ReadonlyMap<string, Place>, { layer, row }: Place): number {
  const taken = [...places.values()].filter(each => each.layer === layer)
  for (let by = 0; ; by++) {
    const found = [row + by, row - by].find(free => taken.every(each => Math.abs(each.row - free) >= 1))
    if (found !== undefined) return found
  }
}

function fromZero(places: ReadonlyMap<string, Place>): Layout {
  const all = [...places.values()]
  const [firstLayer, firstRow] = [Math.min(...all.map(({ layer }) => layer)), Math.min(...all.map(({ row }) => row))]
  const moved = [...places].map(
    ([id, { layer, row }]) => [id, { layer: layer - firstLayer, row: row - firstRow }] as const,
  )
  const size = (values: readonly number[]) => Math.max(0, ...values) + 1
  return {
    places: new Map(moved),
    layers: all.length === 0 ? 0 : size(moved.map(([, { layer }]) => layer)),
    rows: all.length === 0 ? 0 : size(moved.map(([, { row }]) => row)),
  }
}

/** Returns the node that an arrow key leads to: along an edge, or to the next node of the column. */
export function neighbourOf(id: string, key: string, edges: readonly Edge[], { places }: Layout): string | undefined {
  if (key === 'ArrowRight') return edges.find(({ from }) => from === id)?.to
  if (key === 'ArrowLeft') return edges.find(({ to }) => to === id)?.from
  const own = places.get(id)
  if (own === undefined || (key !== 'ArrowDown' && key !== 'ArrowUp')) return undefined
  const sign = key === 'ArrowDown' ? 1 : -1
  return [...places]
    .filter(([, { layer, row }]) => layer === own.layer && sign * (row - own.row) > 0)
    .sort(([, a], [, b]) => sign * (a.row - b.row))[0]?.[0]
}
