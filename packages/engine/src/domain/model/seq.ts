// How seqs are numbered: every fence owns a range, so whoever bumps the fence has fresh seqs without reading the
// last one, and seq order is commit order (see `draft.ts`).

/** How many seqs the range of one fence holds. */
export const SEQ_SPAN = 1_000_000

/** The first seq in the range of a fence; the range of fence 0 begins at 1. */
export function firstSeq(fence: number): number {
  return fence * SEQ_SPAN + 1
}
