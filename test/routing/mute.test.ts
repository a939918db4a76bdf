import { expect, it } from 'vitest'
import { mutedAt } from '../../src/routing/mute.ts'
import { decide, decidingStep, verdict } from '../fakes/decide.ts'
import { command, edit, group, message } from '../fakes/dispatch.ts'
import { household } from '../fakes/routing-policy.ts'

const muted = { mutedUntil: () => 100 }
const spoken = message({ mentioned: true })

it('S25: where the agent is muted even a mention is stored as context, and mute is asked before send policy', () => {
  const policy = household({ sendPolicy: { rules: [], default: 'deny' } })
  const decision = decide(policy, spoken, { facts: muted, dispatch: { receivedAt: 99 } })
  expect(verdict(decision)).toBe('context/muted')
  expect(decision.trace.map(({ stage }) => stage)).toEqual([
    'sender',
    'identity',
    'access',
    'command',
    'mute',
    'dispatch',
    'session',
  ])
  expect(decidingStep(decision)).toMatchObject({ stage: 'mute', because: 'muted until 1970-01-01T00:00:00.100Z' })
})

it.each([
  ['a mute that has run out', { facts: muted, dispatch: { receivedAt: 100 } }, 'run/mentioned'],
  ['nothing muted', {}, 'run/mentioned'],
  [
    'a text of another entrance, held at the exit',
    { facts: muted, dispatch: { origin: 'tool' as const } },
    'run/mentioned',
  ],
])('S25: %s stops nobody', (_, circumstances, expected) => {
  expect(verdict(decide(household(), spoken, circumstances))).toBe(expected)
})

it('S25: an edit stays an edit, and a control command is run where the agent is muted', () => {
  const facts = { mutedUntil: () => Number.POSITIVE_INFINITY, command: () => ({ who: 'owner' as const, open: false }) }
  expect(verdict(decide(household(), edit(), { facts }))).toBe('amend/edited')
  expect(verdict(decide(household(), command('mute'), { facts }))).toBe('control/command')
})

it('S25: an edit is not answered again where the agent is muted', () => {
  const edited = edit({ mentioned: true })
  expect(verdict(decide(household({ edits: 'rerun' }), edited))).toBe('run/mentioned')
  const decision = decide(household({ edits: 'rerun' }), edited, { facts: muted, dispatch: { receivedAt: 99 } })
  expect(verdict(decision)).toBe('amend/edited')
  expect(decidingStep(decision)).toMatchObject({ stage: 'mute' })
})

it('S25: the exit holds back what would be said where the agent is muted', () => {
  const facts = { mutedUntil: () => Number.POSITIVE_INFINITY }
  expect(mutedAt(facts, group(), 5)).toEqual({ allowed: false, because: 'muted until /mute off' })
  expect(mutedAt({ mutedUntil: () => undefined }, group(), 5)).toBeUndefined()
})
