// The command line: every command has help with examples, and invalid arguments are bad usage.

import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { programFor } from './program.ts'
import { ran } from './ran.testkit.ts'

function paths(command: Command, path: string[] = []): string[][] {
  return [path, ...command.commands.flatMap(child => paths(child, [...path, child.name()]))]
}

const program = await programFor(undefined)
const commands = paths(program)

test('the command starts by `env node` without options, which not every system supports', () => {
  const command = readFileSync(new URL('../bin/perdure.js', import.meta.url), 'utf8')
  expect(command.split('\n')[0]).toBe('#!/usr/bin/env node')
})

/** The words that may follow each command. */
const COMMANDS = {
  serve: '',
  dev: '',
  doctor: '',
  init: '',
  runs: `list get steps passes tree result why logs streams stream watch cancel pause resume replay retry bulk-replay
    errors resolve-error ignore-error reopen-error callback signal update answer signals settle budget token erase export`,
  events: 'send send-many list names scheduled unschedule-all unschedule get why redrive tree tail',
  schedules: 'list put delete pause resume fire',
  stream: '',
  apps: 'delete',
  runners: '',
  workflows: 'definitions start limits reset-limits pause resume delete',
  stats: 'workflows steps series facets',
  engines: '',
  engine: 'release',
  limits: '',
  buffers: 'list flush',
  bulk: 'list get stop',
  audit: '',
  webhooks: '',
  'webhooks endpoints': 'list create update delete stats test series',
  'webhooks deliveries': 'list get facets redeliver',
  'webhooks redeliver': '',
  'webhooks receivers': 'list create update delete refusals',
  'webhooks listen': '',
  conform: '',
  console: '',
  mcp: '',
  completion: '',
  keys: 'create list revoke',
  namespaces: 'list suspend resume',
  backup: '',
  restore: '',
  verify: '',
  move: '',
}

test('the program has all commands', () => {
  const below = ([noun, verbs]: [string, string]) => [
    noun,
    ...(verbs.match(/\S+/g) ?? []).map(verb => `${noun} ${verb}`),
  ]
  expect(commands.map(path => path.join(' '))).toEqual(['', ...Object.entries(COMMANDS).flatMap(below)])
})

/** Prints the help of a command. Only the first word decides who prints it, so the commands below it are not run. */
async function helpOf(path: string[]): Promise<string> {
  if (path.length < 2) {
    const { code, stdout, stderr } = await ran([...path, '--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout
  }
  const texts: string[] = []
  const command = path.reduce((above, name) => above.commands.find(below => below.name() === name) as Command, program)
  command.configureOutput({ writeOut: text => void texts.push(text) }).outputHelp()
  return texts.join('')
}

test('every command has help with examples', async () => {
  for (const path of commands) {
    const line = ['perdure', ...path].join(' ')
    const help = await helpOf(path)
    expect(help).toMatch(new RegExp(`^Usage: ${line}`))
    expect(help, line).toMatch(new RegExp(`\nExamples:\n.*${line}`, 's'))
  }
})

test.each<[string, string]>([
  ['runs', 'Usage: perdure runs'],
  ['runs get', "missing required argument 'id'"],
  ['runs get a b', 'too many arguments'],
  ['runs list --limit 1.5', 'whole number'],
  ['runs list --limit', 'argument missing'],
  ['runs list --since yesterday', '--since'],
  ['runs list --status done', 'Allowed are'],
  ['runs list --sort size', 'Allowed choices'],
  ['runs list --colour', "unknown option '--colour'"],
  ['runs logs run_1 --from -1', '--from'],
  ['runs logs run_1 -f --limit 3', 'cannot be used with'],
  ['runs replay run_1 --timeout 5s', '--timeout needs --wait'],
  ['runs watch --timeout 5s', '--timeout needs the id'],
  ['runs watch run_1 --timeout 5', 'a duration such as 30s'],
  ['runs watch run_1 --timeout 25d', 'a duration such as 30s'],
  ['runs replay run_1 --input {', '--input is not valid JSON'],
  ['runs bulk-replay', 'give a filter'],
  ['events send', "missing required argument 'name'"],
  ['events send x --data {', '--data is not valid JSON'],
  ['audit --action fly', 'Allowed choices'],
  ['webhooks', 'Usage: perdure webhooks'],
  ['webhooks endpoints create https://a.example', '--event-kinds'],
  ['webhooks endpoints create https://a.example --event-kinds run.failed,run.lost', 'Allowed are'],
  ['webhooks endpoints create https://a.example --event-kinds run.failed --secret @/none', 'cannot be read'],
  ['webhooks endpoints update whe_1', 'nothing to change: give at least one option'],
  ['webhooks endpoints update whe_1 --enable --disable', 'cannot be used with'],
  ['webhooks receivers create x --scheme plain', 'Allowed choices'],
  ['webhooks deliveries list --status lost', 'Allowed choices'],
  ['webhooks listen --port 65536', 'from 0 to 65535'],
  ['webhooks listen --answer 199', 'from 200 to 599'],
  ['webhooks listen --answer 500 --forward http://localhost', 'cannot be used with'],
  ['webhooks listen --forward nowhere', 'http(s) URL'],
  ['webhooks listen --secret whsec_%', 'must be whsec_ followed by base64'],
  ['keys create', '--kind'],
  ['keys revoke', "missing required argument 'id'"],
  ['apps --url nonsense', 'is not an http or https URL: nonsense'],
  ['serve --colour red', 'there is no flag --colour (--help lists them)'],
  ['serve --prot 4888', 'there is no flag --prot; did you mean --port?'],
  ['dev --qiet', 'there is no flag --qiet; did you mean --quiet?'],
  ['dev ./no/such/file.ts', 'there is no file ./no/such/file.ts'],
  ['dev packages', 'packages is not a file'],
  ['dev README.md', 'README.md is neither JavaScript nor TypeScript'],
  ['dev a.ts b.ts', '"b.ts" is not a flag'],
  ['dev --port', '--port needs a value'],
])('"perdure %s" is bad usage', async (line, says) => {
  const { code, stdout, stderr } = await ran(line.split(' '))
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(says)
  if (!says.startsWith('Usage')) expect(stderr).toMatch(/^perdure: /)
})
