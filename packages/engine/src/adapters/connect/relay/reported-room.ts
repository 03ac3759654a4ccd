// The room of another engine's runners, as that engine last reported it, less the invokes sent since. Reports may be lost, so
// each counts only for a few ticks, and a runner without a report has room. Owned by presence.ts.

/** Ticks for which a report counts. A runner without room is reported again at every tick. */
const REPORT_TICKS_MAX = 3

interface Report {
  free: number
  ticks: number
}

export class ReportedRoom {
  readonly #reports = new Map<string, Report>()

  report(url: string, free: number): void {
    this.#reports.set(url, { free, ticks: 0 })
  }

  /** How many more invokes the runner would take; undefined without a report. */
  free(url: string): number | undefined {
    const report = this.#reports.get(url)
    return report && Math.max(0, report.free)
  }

  /** Notes that an invoke was sent to the runner. */
  invokeSent(url: string): void {
    const report = this.#reports.get(url)
    if (report) report.free--
  }

  tick(): void {
    for (const [url, report] of this.#reports) if (++report.ticks >= REPORT_TICKS_MAX) this.#reports.delete(url)
  }
}
