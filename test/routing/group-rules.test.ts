import { describe, expect, it } from 'vitest'
import type { InboundMessage } from '../../src/core/message.ts'
import type { GroupRule, RoutingPolicy } from '../../src/core/policy.ts'
import { type Circumstances, decide, decidingStep, verdict } from '../fakes/decide.ts'
import { direct, edit, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { household } from '../fakes/routing-policy.ts'

type Trigger = GroupRule['trigger']

function under(trigger: Trigger, changes: Partial<RoutingPolicy> = {}): RoutingPolicy {
  return household({ access: { direct: 'allowlist', groups: [{ match: {}, who: 'public', trigger }] }, ...changes })
}

const ADA = user('111')
const STRANGER = user('999')

function say(policy: RoutingPolicy, event: Partial<InboundMessage>, circumstances?: Circumstances): string {
  return verdict(decide(policy, message(event), circumstances))
}

describe('what triggers in a group', () => {
  it('S24: an owner triggers with and without a mention', () => {
    expect(say(under('mention'), { sender: ADA, mentioned: true })).toBe('run/mentioned')
    expect(say(under('mention'), { sender: ADA, mentioned: false })).toBe('run/owner')
  })

  it('S24: with ownerAlwaysTriggers off an owner must address the bot too', () => {
    const policy = under('mention', { ownerAlwaysTriggers: false })
    expect(say(policy, { sender: ADA, mentioned: true })).toBe('run/mentioned')
    const decision = decide(policy, message({ sender: ADA }))
    expect(verdict(decision)).toBe('context/not_addressed')
    expect(decidingStep(decision)).toMatchObject({ stage: 'group-rule', config: 'routing.ownerAlwaysTriggers' })
  })

  it('S24: without any rule an owner triggers, and with the setting off by a mention', () => {
    const access = { direct: 'owner', groups: [] } as const
    expect(say(household({ access }), { sender: ADA })).toBe('run/owner')
    const off = household({ access, ownerAlwaysTriggers: false })
    expect([true, false].map((mentioned) => say(off, { sender: ADA, mentioned }))).toEqual([
      'run/mentioned',
      'context/not_addressed',
    ])
  })

  it('S25: another triggers with a mention and is stored without one', () => {
    expect(say(under('mention'), { sender: STRANGER, mentioned: true })).toBe('run/mentioned')
    const decision = decide(under('mention'), message({ sender: STRANGER, mentioned: false }))
    expect(decision).toMatchObject({ kind: 'context', reason: 'not_addressed', addressed: false })
    expect(decision).toHaveProperty('route.displayKey', 'telegram:group:-100')
    expect(decidingStep(decision)).toMatchObject({ config: 'routing.access.groups[0].trigger' })
  })

  it('S25: an absent mention flag counts as mentioned, only a literal false does not', () => {
    const { mentioned: _mentioned, ...unsaid } = message({ sender: STRANGER })
    expect(verdict(decide(under('mention'), unsaid as InboundMessage))).toBe('run/mentioned')
  })

  it('S26: an unaddressed owner message runs marked as not addressed', () => {
    expect(decide(under('mention'), message({ sender: ADA }))).toMatchObject({ kind: 'run', addressed: false })
    expect(decide(under('mention'), message({ sender: ADA, mentioned: true }))).toMatchObject({ addressed: true })
  })

  it('S26: in a direct chat every message is addressed, whatever its flag says', () => {
    const decision = decide(under('mention'), message({ address: direct('111'), mentioned: false }))
    expect(decision).toMatchObject({ kind: 'run', reason: 'direct', addressed: true })
  })

  it('S27: the same rules hold on all three platforms', () => {
    const places = [group('-100'), group('c', { channel: 'discord', chatType: 'channel' }), slackChannel()]
    for (const address of places) {
      const verdicts = [true, false].map((mentioned) => say(under('mention'), { address, sender: STRANGER, mentioned }))
      expect(verdicts).toEqual(['run/mentioned', 'context/not_addressed'])
    }
  })

  it.each<[Trigger, boolean, string, string]>([
    ['mention', false, 'run/owner', 'context/others_mentioned'],
    ['mention', true, 'run/mentioned', 'run/mentioned'],
    ['always', false, 'run/owner', 'context/others_mentioned'],
    ['always', true, 'run/mentioned', 'run/mentioned'],
    ['never', false, 'context/trigger_never', 'context/trigger_never'],
  ])(
    'others mentioned, trigger %s, bot mentioned %s: owner %s, another %s',
    (trigger, mentioned, ofAda, ofStranger) => {
      const event = { mentioned, mentionsOthers: true }
      expect(say(under(trigger), { ...event, sender: ADA })).toBe(ofAda)
      expect(say(under(trigger), { ...event, sender: STRANGER })).toBe(ofStranger)
    },
  )

  it('trigger: always answers everybody', () => {
    const decision = decide(under('always'), message({ sender: STRANGER }))
    expect(verdict(decision)).toBe('run/trigger_always')
    expect(decidingStep(decision)).toMatchObject({ config: 'routing.access.groups[0].trigger' })
  })

  it('trigger: always answers an owner who mentions others, also with ownerAlwaysTriggers off', () => {
    const policy = under('always', { ownerAlwaysTriggers: false })
    expect(say(policy, { sender: ADA, mentionsOthers: true })).toBe('run/trigger_always')
  })

  it('trigger: never stores everything and answers nobody', () => {
    expect(say(under('never'), { sender: STRANGER, mentioned: true })).toBe('context/trigger_never')
    const decision = decide(under('never'), message({ sender: ADA, mentioned: true }))
    expect(verdict(decision)).toBe('context/trigger_never')
    expect(decidingStep(decision)).toMatchObject({ config: 'routing.access.groups[0].trigger' })
  })

  it('an edit is stored and triggers nothing, in groups and direct chats', () => {
    const edits = [edit({ mentioned: true }), edit({ address: direct('111') })]
    expect(edits.map((event) => verdict(decide(under('always'), event)))).toEqual(['amend/edited', 'amend/edited'])
  })

  it('what a caller asks for runs whatever the trigger', () => {
    for (const origin of ['api', 'tool', 'schedule', 'operator'] as const) {
      expect(say(under('never'), { sender: ADA }, { dispatch: { origin } })).toBe('run/mentioned')
    }
  })

  it('the trace has each stage once, in the order of the rules', () => {
    const { trace } = decide(under('mention'), message({ sender: ADA }))
    expect(trace.map(({ stage, verdict }) => `${stage} ${verdict}`)).toEqual([
      'sender pass',
      'identity pass',
      'access pass',
      'command pass',
      'send-policy pass',
      'dispatch pass',
      'session pass',
      'group-rule pass',
    ])
    expect(trace[1]).toEqual({
      stage: 'identity',
      verdict: 'pass',
      because: 'owner ada by telegram:111',
      config: 'people.ada.ids[0]',
    })
    expect(trace[7]).toMatchObject({
      because: 'an owner, not addressing the bot',
      config: 'routing.ownerAlwaysTriggers',
    })
  })
})
