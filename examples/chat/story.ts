// Makes stories of any length, the same for the same seed. Called by model.ts.

const WHO = ['a baker', 'the old ferry', 'my neighbour', 'a quiet engineer', 'the night train', 'a fox', 'the choir']
const DID = ['found', 'followed', 'repaired', 'forgot', 'carried', 'painted', 'borrowed']
const WHAT = ['a lantern', 'the last map', 'an empty crate', 'a brass key', 'the blue door', 'a letter', 'some honey']
const WHERE = ['by the harbour', 'before dawn', 'in the rain', 'under the bridge', 'without a sound', 'at the market']

/** Returns a story of this many words. */
export function story(words: number, seed: number): string {
  let state = seed
  const pick = (list: readonly string[]) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return list[Math.floor((state / 2 ** 32) * list.length)] as string
  }
  const told: string[] = []
  while (told.length < words) {
    const [first, ...rest] = `${pick(WHO)} ${pick(DID)} ${pick(WHAT)} ${pick(WHERE)}.`.split(' ')
    told.push(`${first?.[0]?.toUpperCase()}${first?.slice(1)}`, ...rest)
  }
  return `${told.slice(0, words).join(' ').replace(/\.$/, '')}.`
}
