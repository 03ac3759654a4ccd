// The reads of one namespace. Whatever is asked for by id is looked up under the namespace too: a row of another one
// does not exist here.

import type { Delivery, DeliveryAttempt } from '../../domain/delivery.ts'
import type { Event } from '../../domain/event.ts'
import type { LogLine } from '../../domain/log-line.ts'
import type { Step } from '../../domain/step.ts'
import type {
  EventQuery,
  PositionedEvent,
  Reads,
  RunQuery,
  RunView,
  TimelinePage,
} from '../../ports/store.ts'
import type { SqlDriver } from './driver.ts'
import { eventQuery, eventsQuery } from './event-queries.ts'
import type { Query, Row } from './operations.ts'
import { ATTEMPT_COLUMNS, attemptFromRow, deliveryFromRow, SELECT_DELIVERY } from './rows/delivery-row.ts'
import { eventFromRow } from './rows/event-row.ts'
import { logFromRow } from './rows/log-row.ts'
import { stepFromRow } from './rows/step-row.ts'
import { logsQuery, runQuery, runsQuery, runView, stepsQuery } from './run-queries.ts'
import { timelinePage, timelineQuery } from './timeline.ts'

export class SqlReads implements Reads {
  readonly #driver: SqlDriver
  readonly #namespace: string

  constructor(driver: SqlDriver, namespace: string) {
    this.#driver = driver
    this.#namespace = namespace
  }

  async run(id: string): Promise<RunView | undefined> {
    const [row] = await this.#rows(runQuery(this.#namespace, id))
    return row && runView(row)
  }

  async runs(query: RunQuery): Promise<RunView[]> {
    return (await this.#rows(runsQuery(this.#namespace, query))).map(runView)
  }

  async steps(runId: string): Promise<Step[]> {
    return (await this.#rows(stepsQuery(this.#namespace, runId))).map(stepFromRow)
  }

  async logs(runId: string, query: { from: number; limit: number }): Promise<LogLine[]> {
    return (await this.#rows(logsQuery(this.#namespace, runId, query))).map(logFromRow)
  }

  async timeline(
    runId: string,
    position: { after: number; limit: number; openFrom: number },
  ): Promise<TimelinePage> {
    const query = { ...position, runId, namespace: this.#namespace }
    return timelinePage(query, await this.#rows(timelineQuery(query)))
  }

  async event(id: string): Promise<Event | undefined> {
    const [row] = await this.#rows(eventQuery(this.#namespace, id))
    return row && eventFromRow(row).event
  }

  async events(query: EventQuery): Promise<PositionedEvent[]> {
    return (await this.#rows(eventsQuery(this.#namespace, query))).map(eventFromRow)
  }

  async delivery(id: string): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] } | undefined> {
    const [[row], attempts] = (await this.#driver.read([
      {
        sql: `SELECT ${SELECT_DELIVERY} FROM deliveries WHERE id = ? AND namespace = ?`,
        params: [id, this.#namespace],
      },
      {
        sql: `SELECT ${ATTEMPT_COLUMNS.join(', ')} FROM delivery_attempts WHERE delivery_id = ? ORDER BY attempt`,
        params: [id],
      },
    ])) as [Row[], Row[]]
    return row && { delivery: deliveryFromRow(row), attempts: attempts.map(attemptFromRow) }
  }

  async #rows(query: Query): Promise<Row[]> {
    const [rows] = await this.#driver.read([query])
    return rows as Row[]
  }
}
