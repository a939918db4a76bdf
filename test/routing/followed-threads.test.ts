import { describe, expect, it } from 'vitest'
import type { InboundMessage } from '../../src/core/message.ts'
import type { GroupRule } from '../../src/core/policy.ts'
import { decide, decidingStep, verdict } from '../fakes/decide.ts'
import { group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { household } from '../fakes/routing-policy.ts'

const STRANGER = user('999')
const THREAD = slackChannel('C1', { topic: '17.5' })

function say(rule: Partial<GroupRule>, event: Partial<InboundMessage> = {}, followed = true) {
  const groups = [{ match: {}, who: 'public', trigger: 'mention', ...rule }] as const
  const policy = household({ access: { direct: 'owner', groups } })
  const facts = { follows: () => followed }
  return decide(policy, message({ address: THREAD, sender: STRANGER, ...event }), { facts })
}

describe('a thread the agent is part of', () => {
  it('S25: is answered without a mention where the rule follows threads', () => {
    const decision = say({ followThreads: true })
    expect(decision).toMatchObject({ kind: 'run', reason: 'followed_thread', addressed: true })
    expect(decidingStep(decision)).toMatchObject({ config: 'routing.access.groups[0].followThreads' })
  })

  it('S25: is not by default', () => {
    expect(verdict(say({}))).toBe('context/not_addressed')
    expect(verdict(say({ followThreads: false }))).toBe('context/not_addressed')
  })

  it.each<[string, Partial<InboundMessage>, string]>([
    ['a message to somebody else', { mentionsOthers: true }, 'context/others_mentioned'],
    ['the root of the channel', { address: slackChannel() }, 'context/not_addressed'],
    ['a Telegram topic, which is a room', { address: group('-1', { topic: '5' }) }, 'context/not_addressed'],
  ])('%s is not part of what is followed', (_, event, expected) => {
    expect(verdict(say({ followThreads: true }, event))).toBe(expected)
  })

  it('is not followed where the agent has no part in it', () => {
    expect(verdict(say({ followThreads: true }, {}, false))).toBe('context/not_addressed')
  })

  it('is silent where the trigger is never, and closed to whom the rule leaves out', () => {
    expect(verdict(say({ followThreads: true, trigger: 'never' }))).toBe('context/trigger_never')
    expect(verdict(say({ followThreads: true, who: 'allowlist' }))).toBe('refuse/access')
  })
})

it('S24: a rule has its own word on whether an owner needs a mention', () => {
  const rules = [
    { match: { chat: '-1' }, who: 'public', trigger: 'mention', ownerAlwaysTriggers: false },
    { match: { chat: '-2' }, who: 'public', trigger: 'mention', ownerAlwaysTriggers: true },
    { match: {}, who: 'public', trigger: 'mention' },
  ] as const
  const ask = (on: boolean, chat: string) =>
    decide(
      household({ ownerAlwaysTriggers: on, access: { direct: 'owner', groups: rules } }),
      message({ sender: user('111'), address: group(chat) }),
    )
  const verdicts = (on: boolean) => ['-1', '-2', '-3'].map((chat) => verdict(ask(on, chat)))
  expect(verdicts(true)).toEqual(['context/not_addressed', 'run/owner', 'run/owner'])
  expect(verdicts(false)).toEqual(['context/not_addressed', 'run/owner', 'context/not_addressed'])
  expect(decidingStep(ask(true, '-1'))).toHaveProperty('config', 'routing.access.groups[0].ownerAlwaysTriggers')
})
