// Prometheus's own checker, Debian's package `prometheus`: what a real engine writes is clean, and the alerts of
// deploy/monitoring fire when they should, and only then. Skipped, with one line, where `promtool` is not installed.

import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { flow, PlainRunner, run, scenario, unique, until } from '../../kit/index.ts'
import { tempStoreFile } from '../../kit/temp.ts'

const ALERTS = new URL('../../../deploy/monitoring/alerts.yaml', import.meta.url)
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool)
  console.warn('promtool (package prometheus) is missing: the checks of metrics and alerts are LEFT OUT')

const { api, workflow } = await scenario({ realTime: true })

function promtool(args: string[], input = ''): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  return { status, text: stdout + stderr }
}

test.runIf(hasPromtool)('the metrics of an engine that works are clean', async () => {
  const { name, runner } = await workflow(flow([run('one')]), { registration: { onFailure: true } })
  await api.succeeded((await api.send({ app: runner.app, name })).runId)
  const stranded = unique('stranded')
  const gone = await new PlainRunner({ workflows: { [stranded]: flow([]) } }).listen()
  await gone.register(api)
  await gone.close()
  await api.send({ name: stranded })
  await until(async () => /perdure_runs_without_runner\{app="[^"]*"\} 1/.test((await api.get('/metrics')).text))
  expect(promtool(['check', 'metrics'], (await api.get('/metrics')).text)).toEqual({ status: 0, text: '' })
})

/** Series per minute, and the alerts that fire at the end of the twentieth minute. */
const CASES: { when: string; series: Record<string, string>; fires: string[] }[] = [
  {
    when: 'all is well',
    series: {
      'up{job="perdure",instance="a"}': '1x20',
      'perdure_draining{instance="a"}': '0x20',
      'perdure_runs_without_runner{app="shop"}': '0x20',
      'perdure_runs_ended_total{kind="run",status="succeeded"}': '0+60x20',
      'perdure_runs_ended_total{kind="run",status="failed"}': '0x20',
      'perdure_runs_ended_total{kind="onFailure",status="failed"}': '0x20',
      'perdure_deliveries_ended_total{status="dead"}': '0x20',
    },
    fires: [],
  },
  {
    when: 'one engine of two does not answer',
    series: {
      'up{job="perdure",instance="a"}': '1x20',
      'up{job="perdure",instance="b"}': '1x10 0x10',
      'perdure_draining{instance="a"}': '0x20',
    },
    fires: ['PerdureEngineDown'],
  },
  {
    when: 'an app has no runner',
    series: { 'perdure_draining{instance="a"}': '0x20', 'perdure_runs_without_runner{app="shop"}': '0x15 3x5' },
    fires: ['PerdureAppWithoutRunner'],
  },
  {
    when: 'the first delivery after a start gives up',
    series: {
      'perdure_draining{instance="a"}': '0x20',
      'perdure_deliveries_ended_total{status="dead"}': '0x17 1x3',
    },
    fires: ['PerdureDeliveriesEnd'],
  },
  {
    when: 'every run fails, and each failure is handled',
    series: {
      'perdure_draining{instance="a"}': '0x20',
      'perdure_runs_ended_total{kind="run",status="succeeded"}': '0x20',
      'perdure_runs_ended_total{kind="run",status="failed"}': '0+5x20',
      'perdure_runs_ended_total{kind="onFailure",status="succeeded"}': '0+5x20',
      'perdure_runs_ended_total{kind="onFailure",status="failed"}': '0x20',
    },
    // The share is 100 %, not 50 %.
    fires: ['PerdureRunsFail'],
  },
  {
    when: 'a failure handler fails',
    series: {
      'perdure_draining{instance="a"}': '0x20',
      'perdure_runs_ended_total{kind="onFailure",status="failed"}': '0x17 1x3',
    },
    fires: ['PerdureFailureHandlersFail'],
  },
]

test.runIf(hasPromtool)('the alerts fire when they should, and only then', () => {
  const folder = dirname(tempStoreFile())
  copyFileSync(ALERTS, join(folder, 'alerts.yaml'))
  expect(promtool(['check', 'rules', join(folder, 'alerts.yaml')])).toMatchObject({ status: 0 })
  const names = [...promtoolAlerts()]
  const tests = CASES.map(({ when, series, fires }) => ({
    name: when,
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: names.map(alert => ({
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
      eval_time: '20m',
      exp_samples: fires.includes(alert) ? [{ value: 1 }] : [],
    })),
  }))
  // JSON is valid YAML.
  writeFileSync(join(folder, 'tests.yaml'), JSON.stringify({ rule_files: ['alerts.yaml'], tests }))
  const { status, text } = promtool(['test', 'rules', join(folder, 'tests.yaml')])
  expect(status, text).toBe(0)
})

function promtoolAlerts(): Set<string> {
  return new Set(CASES.flatMap(({ fires }) => fires))
}
