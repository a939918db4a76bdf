import { expect, test } from 'vitest'
import {
  before,
  type ChannelFacts,
  isNewer,
  snowflakeAt,
  timeOfSnowflake,
  toAddress,
  toApiTarget,
  toKind,
} from '../../../adapters/discord/address.ts'
import { parseAddress } from '../../../src/core/address.ts'
import { toAccountId } from '../../../src/core/ids.ts'

const account = toAccountId('')

test.each<[string, ChannelFacts, object]>([
  ['a channel', { id: '5', kind: 'channel', guildId: '1' }, { kind: 'channel', id: '5' }],
  ['a thread', { id: '6', kind: 'thread', guildId: '1', parentId: '5' }, { kind: 'channel', id: '6' }],
  ['a direct chat', { id: '7', kind: 'direct' }, { kind: 'person', id: '222' }],
  ['a group', { id: '8', kind: 'group' }, { kind: 'channel', id: '8' }],
])('K10: %s is found again by its address', (_, place, target) => {
  const address = toAddress(account, place, '222')
  expect(address && toApiTarget(address)).toEqual(target)
})

test.each(['telegram:direct:5', 'discord:channel:general', 'discord:channel:5/general', 'discord:direct:ada'])(
  '%s is no place on Discord',
  (address) => {
    expect(toApiTarget(parseAddress(address))).toBeNull()
  },
)

test.each([
  [0, 'channel'],
  [1, 'direct'],
  [3, 'group'],
  [5, 'channel'],
  [11, 'thread'],
  [4, undefined],
  [15, undefined],
  ['0', undefined],
])('the channel type %j is %s', (type, kind) => {
  expect(toKind(type)).toBe(kind)
})

test('ids are compared as numbers of any length and carry their time', () => {
  const at = Date.parse('2026-11-21T12:00:00Z')
  expect(timeOfSnowflake(snowflakeAt(at))).toBe(at)
  expect([isNewer('100', '99'), isNewer('99', '100'), isNewer('5', '5')]).toEqual([true, false, false])
  expect([before('1573660185950420993'), before('0')]).toEqual(['1573660185950420992', '0'])
})
