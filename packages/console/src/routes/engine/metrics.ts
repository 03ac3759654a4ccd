// Reads the text of `GET /metrics`: one sample per line, with its help. Leaves out histogram buckets.

export interface Sample {
  name: string
  labels: string
  value: string
  help: string
}

export function samplesOf(text: string): Sample[] {
  const help = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    const [, of, words] = /^# HELP (\S+) (.*)$/.exec(line) ?? []
    if (of !== undefined) help.set(of, words ?? '')
    if (line.startsWith('#') || line === '') continue
    const [, name, labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === undefined || value === undefined || name.endsWith('_bucket')) continue
    const family = name.replace(/_(sum|count|total)$/, '')
    samples.push({ name, labels, value, help: help.get(name) ?? help.get(family) ?? '' })
  }
  return samples
}
