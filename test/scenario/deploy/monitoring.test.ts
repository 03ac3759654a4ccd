// deploy/monitoring: the alerts and the dashboard use metrics and labels that a real engine writes.

import { expect, test } from 'vitest'
import { projectFile, yamlDocuments } from '../../kit/deploy/deploy-files.ts'
import { scenario } from '../../kit/index.ts'

interface Rules {
  groups: { rules: { alert: string; expr: string; labels: { severity: string }; annotations: object }[] }[]
}
interface Dashboard {
  templating: { list: { name: string; query: string }[] }
  panels: { id: number; title: string; gridPos: object; targets: { expr: string; legendFormat: string }[] }[]
}

const [alerts] = yamlDocuments<Rules>(projectFile('deploy/monitoring/alerts.yaml')) as [Rules]
const rules = alerts.groups.flatMap(group => group.rules)
const dashboard = JSON.parse(projectFile('deploy/monitoring/dashboard.json')) as Dashboard
const targets = dashboard.panels.flatMap(panel => panel.targets)
const page = projectFile('docs/metrics.md')

/** Labels that Prometheus adds when scraping. */
const SCRAPED = ['job', 'instance']

const { api } = await scenario()
const text = (await api.get('/metrics')).text

/** Written by Prometheus itself. */
const UP = 'up'
/** The names of the samples that an engine writes. Names of a histogram's samples have suffixes. */
const written = [
  UP,
  ...[...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map(ending => name + ending) : [name as string],
  ),
]

/** The metric of a sample, without the suffixes of histograms. */
const metricOf = (sample: string) => sample.replace(/_(bucket|sum|count)$/, '')
const metricsOf = (expr: string) => expr.match(/\b(?:perdure|nodejs|process)_\w+|\bup\b/g) ?? []

/** The labels that an expression selects and groups by. */
const labelsOf = (expr: string) => [
  ...[...expr.matchAll(/(\w+)=~?"/g)].map(([, label]) => label as string),
  ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => (list as string).split(', ')),
]

/** The labels of a metric, from the table of docs/metrics.md. Another test compares that table with the engine. */
function labelsInDocs(metric: string): string[] {
  const label = new RegExp(`\`${metricOf(metric)}\\{([^}]*)\\}\``).exec(page)?.[1]
  return [...SCRAPED, ...(metric.endsWith('_bucket') ? ['le'] : []), ...(label?.split(',') ?? [])]
}

test.each([
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
])('%s: %s', (_, expr) => {
  const metrics = metricsOf(expr)
  expect(metrics.length).toBeGreaterThan(0)
  for (const metric of metrics) expect(written).toContain(metric)
  const known = metrics.flatMap(labelsInDocs)
  for (const label of labelsOf(expr)) expect(known).toContain(label)
})

test('every alert has a name of its own, a severity and two sentences', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { alert, labels, annotations } of rules) {
    expect(['critical', 'warning', 'info'], alert).toContain(labels.severity)
    expect(Object.keys(annotations), alert).toEqual(['summary', 'description'])
  }
})

test('what the page says to alarm on with a number has an alert', () => {
  const rows = page.split('\n').filter(line => /^\| `((perdure|nodejs)_|up\b)/.test(line))
  const alarmed = rows.filter(row => /(?:over|more|at|^ ?) ?[\d,.]+/.test(row.split('|')[3] as string))
  expect(alarmed.length).toBeGreaterThan(6)
  const inAlerts = rules.flatMap(({ expr }) => metricsOf(expr).map(metricOf))
  for (const row of alarmed) {
    const names = metricsOf(row.split('|')[1] as string)
    expect(
      names.some(name => inAlerts.includes(name)),
      names.join(' '),
    ).toBe(true)
  }
})

test('the alerts of the Prometheus operator are the same', () => {
  const [rule] = yamlDocuments<{ kind: string; spec: Rules }>(projectFile('deploy/kubernetes/monitoring/alerts.yaml'))
  expect(rule).toMatchObject({ kind: 'PrometheusRule', spec: alerts })
})

test('the panels have ids and places of their own, and use no variable that the dashboard lacks', () => {
  const { panels, templating } = dashboard
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  expect(new Set(panels.map(({ gridPos }) => JSON.stringify(gridPos))).size).toBe(panels.length)
  const variables = [...templating.list.map(({ name }) => name), '__rate_interval']
  const used = JSON.stringify(dashboard).matchAll(/\$\{?(\w+)/g)
  for (const [, name] of used) expect(variables).toContain(name)
  for (const { legendFormat, expr } of targets)
    for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(labelsOf(expr)).toContain(label)
})
