// Common cron expressions as text. An uncommon expression has none, and is shown as it is.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** Returns `every day at 09:00` for `0 9 * * *`; undefined for an uncommon expression. Leaves out a zone before it. */
export function cronWords(cron: string): string | undefined {
  const fields = cron
    .replace(/^TZ=\S+\s+/, '')
    .trim()
    .split(/\s+/)
  if (fields.length !== 5) return undefined
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string]
  if (month !== '*') return undefined
  const often = [minute, hour, day, weekday].join(' ')
  if (often === '* * * *') return 'every minute'
  const step = /^\*\/(\d+)$/.exec(minute)?.[1]
  if (step !== undefined && divides(step, 60) && `${hour} ${day} ${weekday}` === '* * *')
    return step === '1' ? 'every minute' : `every ${step} minutes`
  if (!isNumber(minute)) return undefined
  const past = minute === '0' ? '' : ` at ${minute} past`
  if (`${hour} ${day} ${weekday}` === '* * *') return minute === '0' ? 'every hour' : `every hour${past}`
  const hours = /^\*\/(\d+)$/.exec(hour)?.[1]
  if (hours !== undefined && divides(hours, 24) && `${day} ${weekday}` === '* *') return `every ${hours} hours${past}`
  if (!isNumber(hour)) return undefined
  const at = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (day !== '*') return isNumber(day) && weekday === '*' ? `on day ${day} of the month at ${at}` : undefined
  const days = daysOf(weekday)
  return days && `${days} at ${at}`
}

/** Whether all steps have the same length: a cron starts over with each hour and each day. */
const divides = (step: string, whole: number) => whole % Number(step) === 0

const isNumber = (field: string) => /^\d+$/.test(field)

function daysOf(weekday: string): string | undefined {
  if (weekday === '*') return 'every day'
  if (weekday === '1-5') return 'Monday to Friday'
  if (!/^[0-7](,[0-7])*$/.test(weekday)) return undefined
  const days = new Set(weekday.split(',').map(day => DAYS[Number(day)]))
  return `every ${[...days].join(', ')}`
}
