// The prefixes and the format of lines of the engine, the runner and `perdure dev`.

import { expect, test } from 'vitest'
import { painter } from '../../output/colour.ts'
import { DevLog } from './dev-log.ts'

function shown(colours: boolean, show: (log: DevLog) => void): string {
  let text = ''
  show(
    new DevLog(
      {
        write: more => {
          text += more
        },
      },
      painter(colours),
    ),
  )
  return text
}

const line = (fields: object) => JSON.stringify({ level: 40, time: 0, msg: 'slow', ...fields })
const AT = new Date(0).toTimeString().slice(0, 8)

test('each line has a prefix, and those of the engine a time and a level', () => {
  const text = shown(false, log => {
    log.say('started')
    log.runner('hello')
    log.engine(`${line({ runId: 'run_1' })}\n${line({ level: 30, msg: 'drained' })}\n`)
  })
  expect(text.split('\n')).toEqual([
    'dev    | started',
    'runner | hello',
    `engine | ${AT} warn  slow {"runId":"run_1"}`,
    `engine | ${AT} info  drained`,
    '',
  ])
})

test('a terminal gets colours, and no control characters from the engine’s log', () => {
  expect(shown(true, log => log.say('x'))).toBe('\u001b[32mdev    |\u001b[0m x\n')
  const text = shown(false, log => log.engine(line({ msg: 'a\u001b[2J', url: '\u001b]0;x' })))
  expect(text).not.toContain('\u001b')
})

test('a line that is not JSON is shown unchanged', () => {
  expect(shown(false, log => log.engine('Warning: {\nnull\n'))).toBe('engine | Warning: {\nengine | null\n')
})
