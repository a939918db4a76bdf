import { expect, it } from 'vitest'
import { SESSION_KINDS } from '../../src/core/session.ts'
import { readKinds } from '../../src/core/session-tools.ts'

it.each([
  [
    ['group', 'cron'],
    ['group', 'cron'],
  ],
  [
    [' GROUP ', 'Cron'],
    ['group', 'cron'],
  ],
  [['hook,node; other'], ['hook', 'node', 'other']],
  [['["main","group"]'], ['main', 'group']],
  [
    ['groups', 'schedules', 'others'],
    ['group', 'cron', 'other'],
  ],
  [['direct'], ['main', 'other']],
  [['DMs'], ['main', 'other']],
  [['channel'], ['group']],
  [['group', 'groups', 'GROUP'], ['group']],
  [[...SESSION_KINDS].reverse(), SESSION_KINDS],
  [['', '*', ' , '], []],
  [[], []],
])('T7: kinds named %j are %j', (names, kinds) => {
  expect(readKinds(names)).toEqual({ kinds, unknown: [] })
})

it('T7: what names no kind is said and leaves the others alone', () => {
  expect(readKinds(['Chat', 'group', 'constructor, s', 'node-kitchen'])).toEqual({
    kinds: ['group'],
    unknown: ['chat', 'constructor', 's', 'node-kitchen'],
  })
})
