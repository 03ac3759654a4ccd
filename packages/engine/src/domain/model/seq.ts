// Numbers seqs: every fence owns a range, so a decision that bumps the fence has fresh seqs without reading the last one,
// and seq order is commit order (docs/decisions/0001-seq-ranges.md).

/** Seqs in the range of one fence. */
export const SEQ_SPAN = 1_000_000

/** The first seq in the range of a fence; the range of fence 0 begins at 1. */
export function firstSeq(fence: number): number {
  return fence * SEQ_SPAN + 1
}
