// Run now with a form: a field for each value of the workflow's schema, with faults in the engine's words, JSON beside it, and
// a run that gets the typed values. A hostile schema is edited as JSON.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique, until } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

const ADDRESS = {
  type: 'object',
  required: ['city'],
  properties: { city: { type: 'string', minLength: 1 }, zip: { type: 'string', pattern: '^[0-9]{5}$' } },
}
const ORDER = {
  type: 'object',
  required: ['id', 'count', 'speed', 'items'],
  properties: {
    id: { type: 'string', title: 'Order', description: 'As on the receipt', pattern: '^o-[0-9]+$' },
    count: { type: 'integer', minimum: 1 },
    speed: { enum: ['slow', 'fast'] },
    gift: { type: 'boolean', default: false },
    note: { anyOf: [{ type: 'string', maxLength: 2000 }, { type: 'null' }] },
    items: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' }, cents: { type: 'number' } } },
    },
    'ship to': { $ref: '#/$defs/address' },
    payment: {
      oneOf: [
        { type: 'object', required: ['iban'] },
        { type: 'object', required: ['card'] },
      ],
    },
    kind: { const: 'order' },
  },
  $defs: { address: ADDRESS },
}

/** Opens the dialog that starts a run of a workflow with this schema. */
async function runNow(input: object) {
  const name = unique('typed')
  const { app } = await runner({ workflows: { [name]: { handler: () => returned(1), registration: { input } } } })
  const page = await reusePage(url, { expected: ['400'] })
  await page.goto(`${url}/console/n/default/workflows/${app}/${name}`)
  await page.getByRole('button', { name: 'Run now…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('group', { name: 'Run input: edit as' }).waitFor()
  const check = dialog.getByRole('button', { name: 'Check', exact: true })
  const start = async () => {
    await check.click()
    await dialog.getByText('A run would start.').first().waitFor()
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await until(async () => (await api.runs(`?workflow=${name}`)).length === 1, { what: 'the run' })
    const [run] = await api.runs(`?workflow=${name}`)
    return (await api.get(`/runs/${run?.id}`)).text
  }
  return { page, dialog, check, start, name, app }
}

const focusedLabel = (page: Page) =>
  page.evaluate<string>('document.activeElement.labels?.[0]?.textContent ?? document.activeElement.ariaLabel')

test('a form is filled in, its faults stand at their fields, and the run gets what was typed, to the last digit', async () => {
  const { page, dialog, check, start, name, app } = await runNow(ORDER)
  const field = (label: string) => dialog.getByLabel(label, { exact: true })
  await check.click()
  const order = dialog.getByRole('textbox', { name: /^Order/ })
  await dialog.getByText('input.id is required').waitFor()
  expect(await focusedLabel(page)).toContain('Order')
  expect(await order.getAttribute('aria-required')).toBe('true')
  await order.fill('4711')
  await dialog.getByText('input.id must match ^o-[0-9]+$').waitFor()
  const described = (await order.getAttribute('aria-describedby')) ?? ''
  expect(described.split(' ')).toHaveLength(2)
  expect(await axeViolations(page)).toEqual([])
  await order.fill('o-4711')
  await field('count *').fill('0.5')
  await dialog.getByText('input.count must be an integer, not a number').waitFor()
  await field('count *').fill('12345678901234567890')
  await field('speed *').selectOption({ label: 'fast' })
  await dialog.getByRole('button', { name: 'Add items' }).click()
  const add = dialog.getByRole('button', { name: 'Add an item to items' })
  for (const sku of ['A', 'B']) {
    await add.click()
    await field('sku *').last().fill(sku)
  }
  await dialog.getByRole('button', { name: 'Move item 2 of items up' }).click()
  await field('cents').first().fill('1.50')
  await dialog.getByRole('button', { name: 'Add ship to' }).click()
  await field('city *').fill('Köln')
  await field('payment').fill('{ "iban": "DE1" }')
  await dialog.getByRole('checkbox', { name: 'note is null' }).check()
  const refused = await api.post(`/workflows/${app}/${name}/runs`, { input: { id: 'x', count: 0.5 } })
  expect((refused.json as { error: { message: string } }).error.message).toContain('input.id must match ^o-[0-9]+$')
  await dialog.getByRole('button', { name: 'JSON', exact: true }).click()
  const editor = dialog.getByRole('textbox', { name: 'Run input' })
  await editor.getByText('12345678901234567890').waitFor()
  await dialog.getByRole('button', { name: 'Form', exact: true }).click()
  expect(await field('city *').inputValue()).toBe('Köln')
  expect(await field('cents').first().inputValue()).toBe('1.50')
  expect(await axeViolations(page)).toEqual([])
  const run = await start()
  expect(run.replaceAll(/\s/g, '')).toContain(
    '"input":{"id":"o-4711","count":12345678901234567890,"speed":"fast","gift":false,"note":null,' +
      '"items":[{"sku":"B","cents":1.50},{"sku":"A"}],"shipto":{"city":"Köln"},"payment":{"iban":"DE1"},"kind":"order"}',
  )
})

test('what is typed as JSON is the value of the form, members that the schema does not name among it', async () => {
  const { page, dialog, start } = await runNow({ type: 'object', properties: { a: { type: 'string' } } })
  await dialog.getByRole('button', { name: 'JSON', exact: true }).click()
  const editor = dialog.getByRole('textbox', { name: 'Run input' })
  const form = dialog.getByRole('button', { name: 'Form', exact: true })
  await editor.press('Control+a')
  await page.keyboard.insertText('{"a": 7, "b": [1.0')
  await until(async () => (await form.getAttribute('aria-disabled')) === 'true', { what: 'no form for broken JSON' })
  await page.keyboard.insertText(']}')
  await dialog.getByText('input.a must be a string, not a number').waitFor()
  await form.click()
  const others = dialog.getByRole('textbox', { name: 'Other members' })
  expect((await others.inputValue()).replaceAll(/\s/g, '')).toBe('{"b":[1.0]}')
  const a = dialog.getByRole('textbox', { name: 'a', exact: true })
  expect(await a.inputValue()).toBe('7')
  await others.fill('{"b": ')
  await others.press('Tab')
  await dialog.getByText('This is not JSON', { exact: true }).waitFor()
  await others.fill('{"b": 2.0}')
  await a.fill('"x"')
  expect((await start()).replaceAll(/\s/g, '')).toContain('"input":{"a":"x","b":2.0}')
})

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, {}]))
const nested = (depth: number): object =>
  depth === 0 ? {} : { type: 'object', required: ['in'], properties: { in: nested(depth - 1) } }

test.each([
  ['of 2,000 members', { type: 'object', properties: members(2000) }],
  [
    'of 100 objects of 20 members',
    {
      type: 'object',
      required: Object.keys(members(100)),
      properties: Object.fromEntries(Object.keys(members(100)).map(name => [name, { $ref: '#/$defs/o' }])),
      $defs: { o: { type: 'object', properties: members(20) } },
    },
  ],
  ['that contains itself', { type: 'object', required: ['next'], properties: { next: { $ref: '#' } } }],
  ['of 40 levels', nested(40)],
  ['of two forms', { oneOf: [{ type: 'string' }, { type: 'object' }] }],
])('a schema %s does not hold up the page, and its value can be edited as JSON', async (_, input) => {
  const { page, dialog } = await runNow(input)
  await dialog.getByRole('button', { name: 'JSON', exact: true }).click()
  await dialog.getByRole('textbox', { name: 'Run input' }).press('Control+a')
  await page.keyboard.insertText('{"next":{}}')
  await dialog.getByRole('button', { name: 'Check', exact: true }).click()
  expect(await dialog.getByRole('textbox').count()).toBeLessThan(250)
})

test('a pattern that takes the browser forever is left to the engine', async () => {
  const { dialog, page } = await runNow({ type: 'object', properties: { a: { type: 'string', pattern: '^(a|a)*$' } } })
  await dialog.getByRole('textbox', { name: 'a', exact: true }).fill(`${'a'.repeat(60)}!`)
  expect(await page.evaluate<number>('1')).toBe(1)
  await dialog.getByText('The schema takes too long to check here').waitFor()
  await dialog.getByRole('button', { name: 'Check', exact: true }).click()
  await dialog.getByText('input.a must match ^(a|a)*$').first().waitFor()
})
