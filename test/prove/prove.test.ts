// `npm run prove` itself: its command line, its verdicts and its exit code.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readOptions } from '../../prove/options.ts'
import { problemLines, table, verdictLine, wordOf } from '../../prove/report.ts'
import type { Finding } from '../../prove/suite.ts'
import { NAMES } from '../../prove/suites.ts'
import { filesLike } from '../tidy/files.ts'

const MAIN = fileURLToPath(new URL('../../prove/main.ts', import.meta.url))
const verdictOf = (finding: Finding) => ({ suite: 'kill', proves: 'p', seed: 7, ms: 1500, finding })
const held = { counts: { kills: 3 }, problems: [] }

describe('the command line', () => {
  it.each([
    [['kill', '--count', '1000', '--seed=7'], { suites: ['kill'], count: 1000, seed: 7 }],
    [['--quick'], { suites: [], isQuick: true }],
    [['cluster', '--minutes', '0.5'], { suites: ['cluster'], minutes: 0.5 }],
  ])('reads %j', (args, options) => {
    expect(readOptions(args, NAMES)).toMatchObject(options)
  })

  it.each([
    [['kil'], 'there is no suite kil'],
    [['--fast'], 'there is no option --fast'],
    [['--count'], '--count must be a number above 0'],
    [['--seed', '1.5'], '--seed must be an integer'],
  ])('refuses %j', (args, message) => {
    expect(() => readOptions(args, NAMES)).toThrow(message)
  })
})

describe('a verdict', () => {
  it('holds, fails or is skipped', () => {
    expect(wordOf(held)).toBe('holds')
    expect(wordOf({ counts: { kills: 3 }, problems: ['lost'] })).toBe('FAILS')
    expect(wordOf({ counts: {}, problems: [], skipped: ['no strace'] })).toBe('SKIPPED')
    expect(wordOf({ counts: { kills: 3 }, problems: [], skipped: ['no root'] })).toBe('holds')
  })

  it('is one line with the counts and the seed, and one row of a table', () => {
    expect(verdictLine(verdictOf(held))).toBe('kill: holds, 3 kills, seed 7, 1.5 s')
    expect(
      table([verdictOf(held)])
        .split('\n')
        .at(-1),
    ).toBe('| `kill` | p | 3 kills | 7 | 2 s | holds |')
  })

  it('lists differences, up to a bound', () => {
    const lines = problemLines(verdictOf({ counts: {}, problems: Array.from({ length: 30 }, (_, i) => `lost ${i}`) }))
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toContain('10 more')
  })
})

it('exits with code 2 when it cannot read its arguments', async () => {
  const args = ['--conditions=perdure-source', '--import', 'tsx', MAIN, 'kil']
  await expect(promisify(execFile)(process.execPath, args)).rejects.toMatchObject({ code: 2 })
})

it('has every suite in docs/reliability.md', () => {
  const page = filesLike(/^docs\/reliability\.md$/)[0]?.text ?? ''
  expect(NAMES.filter(name => !page.includes(`| \`${name}\` |`))).toEqual([])
})
