import type { EventMatch } from '@perdure/protocol'
import { expect, it } from 'vitest'
import { parse } from '../../data/json/parse.ts'
import { dataFor } from './wait-draft.ts'

const event = {
  id: 'evt_1',
  name: 'order.placed',
  data: parse('{"orderId":"A-1","total":12345678901234567890.50,"customer":{"id":7}}'),
}

it.each([
  [undefined, '{}'],
  ['async.data.orderId == event.data.orderId', '{"orderId":"A-1"}'],
  ['event.data.total==async.data.total', '{"total":12345678901234567890.50}'],
  [
    'async.data.order.id == event.data.orderId && async.data.order.customer == event.data.customer.id && async.data.ok == true',
    '{"order":{"id":"A-1","customer":7},"ok":true}',
  ],
  [`async.data["by who"] == 'ada' && async.data.of == event.name`, '{"by who":"ada","of":"order.placed"}'],
  ['async.data.total > 5 && async.data.id == event.id', '{"id":"evt_1"}'],
  ['async.data.a == event.data.none', '{}'],
  ['async.data.a == event.data.__proto__', '{}'],
  ['async.data.a == async.data.b == 1 || size(async.data.c) == 2', '{}'],
])('the data for the filter %s', (filter, data) => {
  expect(dataFor({ if: filter }, event)).toBe(data)
})

it.each<[match: EventMatch, filter: string | undefined, data: string]>([
  ['data.orderId', undefined, '{"orderId":"A-1"}'],
  [['data.customer.id', 'data.none'], undefined, '{"customer":{"id":7}}'],
  [{ 'data.plan': 'pro', 'data.end': null }, 'async.data.ok == true', '{"plan":"pro","end":null,"ok":true}'],
  ['data', undefined, '{}'],
])('the data for the match %j and the filter %s', (match, filter, data) => {
  expect(dataFor({ match, if: filter }, event)).toBe(data)
})
