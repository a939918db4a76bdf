import { describe, expect, it } from 'vitest'
import type { BotSpending } from '../../src/core/bot-budget.ts'
import type { InboundEvent } from '../../src/core/message.ts'
import type { GroupRule } from '../../src/core/policy.ts'
import { decide, decidingStep, verdict } from '../fakes/decide.ts'
import { command, direct, edit, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { household } from '../fakes/routing-policy.ts'

const ROBOT = user('777', { kind: 'bot' })

function ask(rule: Partial<GroupRule>, event: Partial<InboundEvent> = {}, spent?: Partial<BotSpending>) {
  const groups = [{ match: {}, who: 'public', trigger: 'mention', ...rule } as const]
  const policy = household({ access: { direct: 'public', groups }, edits: 'rerun' })
  const botSpending = () => ({ turns: 0, tokens: 0, lastAskedAt: 0, ...spent })
  return decide(policy, { ...message({ sender: ROBOT }), ...event } as InboundEvent, { facts: { botSpending } })
}

const listed = { botIds: ['telegram:777'] }

describe('other bots', () => {
  it.each<[string, Partial<GroupRule>, Partial<InboundEvent>, string]>([
    ['are context by default', {}, { mentioned: true }, 'context/bot'],
    ['are context by default, also where everything triggers', { trigger: 'always' }, {}, 'context/bot'],
    ['are ignored by default where not everybody is heard', { who: 'allowlist' }, {}, 'ignore/bot'],
    ['are context where told so', { who: 'allowlist', bots: 'context', ...listed }, { mentioned: true }, 'context/bot'],
    ['are ignored where told so', { bots: 'ignore', ...listed }, { mentioned: true }, 'ignore/bot'],
    ['without a list of ids are context', { bots: 'allow' }, { mentioned: true }, 'context/bot'],
    ['that are not listed are context', { bots: 'allow', botIds: ['778', 'discord:777'] }, {}, 'context/bot'],
    ['are known by their bare id', { bots: 'allow', botIds: [' 777 '] }, { mentioned: true }, 'run/mentioned'],
    ['mentioned: are answered on a mention', { bots: 'mentioned', ...listed }, { mentioned: true }, 'run/mentioned'],
    ['mentioned: are read along without one', { bots: 'mentioned', ...listed }, {}, 'context/not_addressed'],
    [
      'mentioned: also where everything triggers',
      { bots: 'mentioned', trigger: 'always', ...listed },
      {},
      'context/not_addressed',
    ],
    ['allow: are answered as people are', { bots: 'allow', trigger: 'always', ...listed }, {}, 'run/trigger_always'],
    ['allow: need a mention as people do', { bots: 'allow', ...listed }, {}, 'context/not_addressed'],
    [
      'are silent where the trigger is never',
      { bots: 'allow', trigger: 'never', ...listed },
      { mentioned: true },
      'context/trigger_never',
    ],
    ['wake nobody by a word', { bots: 'allow', wakeWords: ['hello'], ...listed }, {}, 'context/not_addressed'],
    ['who say nothing are ignored', { bots: 'allow', ...listed }, { text: ' ' }, 'ignore/empty'],
    [
      'without an id are answered by nobody',
      { bots: 'allow', botIds: ['777', ''] },
      { sender: { ...ROBOT, id: ' ' }, mentioned: true },
      'context/bot',
    ],
    ['in direct chats are ignored', { bots: 'allow', ...listed }, { address: direct('777') }, 'ignore/bot'],
  ])('%s', (_, rule, event, expected) => {
    expect(verdict(ask(rule, event))).toBe(expected)
  })

  const elsewhere = { mentionsOthers: true }
  it.each<[string, Partial<GroupRule>, Partial<InboundEvent>, string]>([
    ['where all are context', { trigger: 'always' }, {}, 'bots'],
    ['where all are context, to others', { trigger: 'always' }, elsewhere, 'bots'],
    ['where all are context and nobody is answered', { trigger: 'never' }, {}, 'bots'],
    ['that is not listed', { bots: 'allow', trigger: 'always' }, elsewhere, 'botIds'],
    ['that has not mentioned the agent', { bots: 'mentioned', trigger: 'always', ...listed }, {}, 'bots'],
    ['that is answered as people are', { bots: 'allow', ...listed }, {}, 'trigger'],
    ['where all are ignored', { who: 'allowlist', trigger: 'always' }, {}, 'bots'],
  ])(
    'F-D11: the trace names the setting by which a bot would be heard or answered, of one %s',
    (_, rule, event, name) => {
      expect(decidingStep(ask(rule, event))).toMatchObject({ config: `routing.access.groups[0].${name}` })
    },
  )

  it('the trace names the list of rules for a bot in a group that has none', () => {
    const policy = household({ access: { direct: 'public', groups: [] } })
    const decision = decide(policy, message({ sender: ROBOT }))
    expect(decidingStep(decision)).toMatchObject({ config: 'routing.access.groups' })
  })

  it('of a workspace are named with it', () => {
    const there = { address: slackChannel(), sender: { ...ROBOT, id: 'B77', team: 'T01' }, mentioned: true } as const
    expect(verdict(ask({ bots: 'mentioned', botIds: ['slack:T01/B77'] }, there))).toBe('run/mentioned')
    expect(verdict(ask({ bots: 'mentioned', botIds: ['slack:T02/B77'] }, there))).toBe('context/bot')
  })

  it('have no authority, whoever lists their id', () => {
    expect(ask({ bots: 'allow', ...listed }, { mentioned: true })).toMatchObject({ identity: { role: 'guest' } })
    const ada = user('111', { kind: 'bot' })
    expect(ask({ bots: 'allow', botIds: ['111'] }, { sender: ada, mentioned: true })).toMatchObject({
      identity: { role: 'guest' },
    })
  })

  it('give no commands: what looks like one is a text', () => {
    const { address } = message({ address: group() })
    expect(
      verdict(ask({ bots: 'allow', ...listed }, command('stop', { sender: ROBOT, address, mentioned: true }))),
    ).toBe('run/mentioned')
  })

  it('are not answered again for an edit, and their reactions are nothing', () => {
    expect(verdict(ask({ bots: 'allow', ...listed }, edit({ sender: ROBOT, mentioned: true })))).toBe('amend/edited')
    const { text: _text, mentioned: _mentioned, ...rest } = message({ sender: ROBOT })
    const reaction = { ...rest, kind: 'reaction', added: ['x'], removed: [] } as const
    const policy = household({
      access: { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'always', bots: 'allow', ...listed }] },
    })
    expect(verdict(decide(policy, reaction))).toBe('ignore/unsupported_event')
  })
})

describe('F-D11: beyond the budget of a chat', () => {
  it.each<[string, Partial<BotSpending>, string]>([
    ['nothing spent', {}, 'run/mentioned'],
    ['one turn left', { turns: 19 }, 'run/mentioned'],
    ['all turns used', { turns: 20 }, 'context/bot_budget'],
    ['the tokens used', { turns: 1, tokens: 200_000 }, 'context/bot_budget'],
  ])('%s', (_, spent, expected) => {
    expect(verdict(ask({ bots: 'mentioned', ...listed }, { mentioned: true }, spent))).toBe(expected)
  })

  it('the trace says so, and names the setting', () => {
    const decision = ask({ bots: 'mentioned', ...listed }, { mentioned: true }, { turns: 20, tokens: 5 })
    expect(decidingStep(decision)).toMatchObject({
      because: 'bots had 20 answers and 5 tokens here; wait for a person or for quiet',
      config: 'routing.botBudget',
    })
  })

  it('people are answered as ever', () => {
    const spent = { turns: 99, tokens: 9_999_999 }
    expect(verdict(ask({ bots: 'mentioned', ...listed }, { sender: user('999'), mentioned: true }, spent))).toBe(
      'run/mentioned',
    )
  })
})
