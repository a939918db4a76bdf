import { describe, expect, it } from 'vitest'
import type { AdmissionFact } from '../../src/core/admission.ts'
import { toAccountId } from '../../src/core/ids.ts'
import type { InboundEvent } from '../../src/core/message.ts'
import { lineFor } from '../../src/sessions/turns/system-notices.ts'
import { decide, decidingStep, verdict } from '../fakes/decide.ts'
import { command, direct, edit, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { household, policy } from '../fakes/routing-policy.ts'

const CY = user('555')
const hello = message({ address: direct('555'), sender: CY })
const inClub = message({ sender: CY })
const ADMITTED: AdmissionFact = { state: 'admitted', by: 'ada', at: Date.UTC(2026, 10, 21, 9) }

const knows = (key: string, fact: AdmissionFact) => ({
  facts: { admission: (asked: string) => (asked === key ? fact : undefined) },
})
const asks = (event: InboundEvent, options: Parameters<typeof decide>[2] = {}) => {
  const decision = decide(policy(), event, options)
  return decision.kind === 'refuse' ? (decision.asks?.key ?? 'refused') : decision.kind
}

describe('who an owner let in', () => {
  it('a stranger talks in direct chats, as a guest, and the trace says who let them in when', () => {
    const decision = decide(policy(), hello, knows('telegram:555', ADMITTED))
    expect(verdict(decision)).toBe('run/direct')
    expect(decision.identity).toEqual({ role: 'guest' })
    const step = decision.trace.find(({ stage }) => stage === 'access')
    expect(step?.because).toBe('telegram:555 was admitted by ada on 2026-11-21')
  })

  it.each([
    ['a stranger', undefined, undefined],
    ['whom an owner let in', ADMITTED, true],
  ])('the answer to a command of %s goes behind what goes ahead of it, and no further', (_, fact, known) => {
    const event = command('start', { address: direct('555'), sender: CY })
    const facts = {
      admission: () => fact,
      ownerKnown: fact !== undefined,
      command: () => ({ who: 'anyone', open: true }) as const,
    }
    const decision = decide(policy(), event, { facts })
    expect(decision.kind).toBe('control')
    expect(lineFor(event, decision)).toEqual({ supersedes: 'telegram:555', ...(known && { known }) })
  })

  it('a group talks as one that is open to whoever addresses the agent, in all its topics', () => {
    const fact = knows('telegram:group:-100', ADMITTED)
    const aside = decide(policy(), inClub, fact)
    expect(verdict(aside)).toBe('context/not_addressed')
    expect(decidingStep(aside)).toMatchObject({ stage: 'group-rule', config: 'routing.access.groups' })
    expect(verdict(decide(policy(), message({ sender: CY, mentioned: true }), fact))).toBe('run/mentioned')
    const inTopic = message({ sender: CY, mentioned: true, address: group('-100', { topic: '7' }) })
    expect(verdict(decide(policy(), inTopic, fact))).toBe('run/mentioned')
  })

  it('F-H06: let in one place or one account, nobody is let in another', () => {
    const fact = knows('telegram:555', ADMITTED)
    expect(asks(inClub, fact)).toBe('telegram:group:-100')
    const second = message({ address: direct('555', { account: toAccountId('second') }), sender: CY })
    expect(asks(second, fact)).toBe('telegram@second:555')
    const club = message({ sender: CY, address: group('-100', { account: toAccountId('second') }) })
    expect(asks(club, knows('telegram:group:-100', ADMITTED))).toBe('telegram@second:group:-100')
  })

  it('a rule of the configuration decides alone: it was written on purpose', () => {
    const closed = household({
      access: { direct: 'owner', groups: [{ match: {}, who: 'owner', trigger: 'mention' }] } as never,
    })
    const decision = decide(closed, inClub, knows('telegram:group:-100', ADMITTED))
    expect(verdict(decision)).toBe('refuse/access')
    expect(decision).not.toHaveProperty('asks')
  })

  it('F-H04: the same id of another team was not let in', () => {
    const dm = (team: string) =>
      message({ address: slackChannel('D1', { chatType: 'direct' }), sender: user('U5', { team }) })
    const fact = knows('slack:t01/u5', ADMITTED)
    expect(verdict(decide(policy(), dm('T01'), fact))).toBe('run/direct')
    expect(asks(dm('T02'), fact)).toBe('slack:t02/u5')
  })

  it('denied is as if it had never asked, and it does not ask again', () => {
    const denied = decide(policy(), hello, knows('telegram:555', { state: 'denied' }))
    expect(verdict(denied)).toBe('refuse/stranger')
    expect(denied).not.toHaveProperty('asks')
    expect(decidingStep(denied)?.config).toBe('routing.access.direct')
    expect(asks(inClub, knows('telegram:group:-100', { state: 'denied' }))).toBe('refused')
  })
})

describe('who asks to be let in', () => {
  const { text: _text, mentioned: _mentioned, ...rest } = inClub

  it('a stranger in a direct chat does, whatever they say; a member the configuration knows does not', () => {
    expect(asks(hello)).toBe('telegram:555')
    expect(asks(command('help', { address: direct('555'), sender: CY }))).toBe('telegram:555')
    const bob = decide(
      household({ access: { direct: 'owner', groups: [] } }),
      message({ address: direct('444'), sender: user('444') }),
    )
    expect(verdict(bob)).toBe('refuse/access')
    expect(bob).not.toHaveProperty('asks')
  })

  it('who stands for no single person does not', () => {
    const shared = message({ address: direct('777000'), sender: user('777000') })
    expect(asks(shared)).toBe('refused')
  })

  it('a group does when somebody speaks there, and when the agent is added', () => {
    expect(asks(inClub)).toBe('telegram:group:-100')
    expect(asks({ ...rest, kind: 'membership', status: 'joined' })).toBe('telegram:group:-100')
    expect(asks({ ...rest, kind: 'membership', status: 'left' })).toBe('refused')
    expect(asks({ ...rest, kind: 'membership', status: 'joined', address: direct('555') })).toBe('refused')
  })

  it('a channel of a workspace does when it addresses the agent; from then on all that is said there waits', () => {
    const said = message({ address: slackChannel(), sender: CY })
    const key = 'slack:channel:C1'
    expect(asks(said)).toBe('refused')
    expect(asks({ ...said, mentioned: true })).toBe(key)
    expect(asks(said, knows(key, { state: 'asked' }))).toBe(key)
  })

  it('an edit, a deletion and a reaction ask for nothing, but the first two belong to what waits', () => {
    const waits = knows('telegram:group:-100', { state: 'asked' })
    const deleted: InboundEvent = { ...rest, kind: 'delete', original: 'e1' }
    const reaction: InboundEvent = { ...rest, kind: 'reaction', added: ['x'], removed: [] }
    expect([asks(edit({ sender: CY })), asks(deleted), asks(reaction)]).toEqual(['refused', 'amend', 'refused'])
    expect([asks(edit({ sender: CY }), waits), asks(deleted, waits), asks(reaction, waits)]).toEqual([
      'telegram:group:-100',
      'telegram:group:-100',
      'refused',
    ])
  })

  it('an edit that would count for nothing does not wait either', () => {
    const waits = knows('telegram:group:-100', { state: 'asked' })
    const decision = decide(policy({ edits: 'ignore' }), edit({ sender: CY }), waits)
    expect(verdict(decision)).toBe('ignore/edits')
    expect(decision.trace.at(-1)?.config).toBe('routing.edits')
  })

  it('nobody does while there is no owner to ask, nor by another door', () => {
    const unowned = { facts: { ownerKnown: false } }
    expect([asks(hello, unowned), asks(inClub, unowned)]).toEqual(['refused', 'refused'])
    expect(asks(hello, { dispatch: { origin: 'api' } })).toBe('refused')
    expect(asks(inClub, { dispatch: { origin: 'tool' } })).toBe('refused')
  })
})
