// Counts that may end at a bound, as the API shows them. Called by the routes of runs and deliveries.

/** A number, or a text with its lower bound. */
export function countText({ count, isPart }: { count: number; isPart: boolean }): number | string {
  return isPart ? `${count}+` : count
}
