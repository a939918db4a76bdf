import { expect, test } from 'vitest'
import { unseenRules } from '../../src/routing/unseen-rules.ts'

test('a rule that answers everything is named for the accounts it is about, and no other rule', () => {
  const rules = [
    { match: {}, who: 'allowlist', trigger: 'mention' },
    { match: { channel: 'telegram' }, who: 'allowlist', trigger: 'always' },
    { match: { channel: 'telegram', account: 'second' }, who: 'allowlist', trigger: 'always' },
    { match: { channel: 'slack' }, who: 'allowlist', trigger: 'always' },
    { match: { chat: '-1007654321' }, who: 'owner', trigger: 'always' },
  ] as const
  const named = unseenRules(rules, { channel: 'telegram', account: 'default' }).map((line) => line.split(' ')[0])
  expect(named).toEqual(['routing.access.groups[1]', 'routing.access.groups[4]'])
})
