// The sentence of a job that acts on many runs, for the commands that start, show and stop one.

import type { Bulk } from '@perdure/protocol'

export const jobText = ({ matched, done, skipped, failed, status }: Omit<Bulk, 'id'>) =>
  `${status}: ${matched} matched, ${done} done, ${skipped} skipped, ${failed} failed`
