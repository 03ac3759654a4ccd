// The length of the bars of a chart, by the window that it shows.

/** `5m` up to two hours, `1h` up to eight days, `1d` beyond. */
export function seriesStep(since: string): '5m' | '1h' | '1d' {
  const [, count = '0', unit] = /^(\d+)([mhd])$/.exec(since) ?? []
  const hours = Number(count) * ({ m: 1 / 60, h: 1, d: 24 }[unit ?? 'h'] ?? 1)
  return hours <= 2 ? '5m' : hours <= 192 ? '1h' : '1d'
}
