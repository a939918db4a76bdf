import { expect, it } from 'vitest'
import { type Deferred, deferred } from '../../src/core/deferred.ts'
import type { Decided, Dispatch } from '../../src/core/dispatch.ts'
import type { BeforeSave } from '../../src/core/hook.ts'
import type { InboundEvent } from '../../src/core/message.ts'
import { asHooksLeave, saveGate } from '../../src/hooks/save-gate.ts'
import { decide } from '../fakes/decide.ts'
import { command, direct, dispatchOf, edit, group, message } from '../fakes/dispatch.ts'
import { household } from '../fakes/routing-policy.ts'

const COMMANDS = { facts: { command: () => ({ who: 'anyone', open: false }) as const } }

const say = (text: string, chat = '111') => message({ address: direct(chat), text })

/** A gate whose hook makes each text louder, once it is let go. */
function loudGate(...texts: string[]) {
  const held = new Map<string, Deferred>(texts.map((text) => [text, deferred()]))
  const decided = (dispatch: Dispatch): Decided => ({
    dispatch,
    decision: decide(household(), dispatch.event, COMMANDS),
  })
  const hooks = {
    has: () => true,
    async beforeSave({ text }: BeforeSave) {
      await held.get(text)?.promise
      return text.toUpperCase()
    },
  }
  const gate = saveGate(decided, hooks, (_channel, chat) => (chat === '-1001' ? '-1' : undefined))
  const stored: string[] = []
  const events: InboundEvent[] = []
  const pass = async (event: InboundEvent): Promise<void> => {
    const kept = (await gate(dispatchOf(event))).dispatch.event
    events.push(kept)
    stored.push('text' in kept ? kept.text : '')
  }
  return { held, stored, events, pass }
}

it('R8: the messages of a chat keep their order, whatever time a hook takes for each', async () => {
  const { held, stored, pass } = loudGate('first', 'second')
  const all = [pass(say('first')), pass(say('second')), pass(say('third'))]
  held.get('second')?.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect(stored).toEqual([])
  held.get('first')?.resolve()
  await Promise.all(all)
  expect(stored).toEqual(['FIRST', 'SECOND', 'THIRD'])
})

it('R8: topics of one chat keep their order with each other', async () => {
  const { held, stored, pass } = loudGate('first')
  const inTopic = (text: string, topic: string) => message({ address: { ...group('-1'), topic }, text })
  const all = [pass(inTopic('first', '5')), pass(inTopic('second', '6'))]
  await pass(say('elsewhere', '222'))
  expect(stored).toEqual(['ELSEWHERE'])
  held.get('first')?.resolve()
  await Promise.all(all)
  expect(stored).toEqual(['ELSEWHERE', 'FIRST', 'SECOND'])
})

it('R8, F-C07: what follows in a group that got a new id waits for what was said in it before', async () => {
  const { held, stored, pass } = loudGate('first')
  const said = (text: string, chat: string) => message({ address: group(chat), text })
  const all = [pass(said('first', '-1')), pass(said('second', '-1001')), pass(said('third', '-1001'))]
  await pass(say('elsewhere', '222'))
  expect(stored).toEqual(['ELSEWHERE'])
  held.get('first')?.resolve()
  await Promise.all(all)
  expect(stored).toEqual(['ELSEWHERE', 'FIRST', 'SECOND', 'THIRD'])
})

it('R8: neither another chat nor a command waits for a hook', async () => {
  const { held, stored, pass } = loudGate('first')
  const first = pass(say('first'))
  await pass(say('elsewhere', '222'))
  await pass(command('stop', { address: direct('111') }))
  expect(stored).toEqual(['ELSEWHERE', '/stop'])
  held.get('first')?.resolve()
  await first
})

it.each(['undo', 'retry', 'forget'])('R8: /%s waits for the message before it, which it is about', async (name) => {
  const { held, stored, pass } = loudGate('first')
  const all = [pass(say('first')), pass(command(name, { address: direct('111') }))]
  await pass(say('elsewhere', '222'))
  expect(stored).toEqual(['ELSEWHERE'])
  held.get('first')?.resolve()
  await Promise.all(all)
  expect(stored).toEqual(['ELSEWHERE', 'FIRST', `/${name}`])
})

it('R8: without such a hook there is no gate', () => {
  const decided = (dispatch: Dispatch): Decided => ({ dispatch, decision: decide(household(), dispatch.event) })
  const hooks = { has: () => false, beforeSave: async ({ text }: BeforeSave) => text }
  expect(saveGate(decided, hooks, () => undefined)).toBe(decided)
})

it('R8: words that are quoted or passed on beside own ones are asked about too', async () => {
  const { pass, events } = loudGate()
  const sender = { id: '555', kind: 'user' } as const
  const quoted = { messageId: '1', text: 'quoted', sender, own: false }
  await pass({ ...say('mine'), quoted, forwarded: { from: sender, text: 'theirs' } })
  expect(events).toMatchObject([{ text: 'MINE', quoted: { text: 'QUOTED' }, forwarded: { text: 'THEIRS' } }])
})

it('R8: lines that came beside the words, such as a contact, are asked about each', async () => {
  const { pass, events } = loudGate()
  await pass({ ...say(''), enclosed: ['contact: Bob 555', 'location'] })
  expect(events).toMatchObject([{ text: '', enclosed: ['CONTACT: BOB 555', 'LOCATION'] }])
})

it('R8: the words of a command that a model is shown are asked about too, its code and numbers are not', async () => {
  const { pass, events } = loudGate()
  for (const args of ['ab12 my card is 4711', 'ab12 2']) await pass(command('answer', { address: direct('111'), args }))
  await pass(command('side', { address: direct('111'), args: 'my card' }))
  await pass(command('memory', { address: direct('111'), args: 'correct 1 my card' }))
  await pass(command('memory', { address: direct('111'), args: 'my card' }))
  expect(events.map((event) => event.kind === 'command' && event.args)).toEqual([
    ...['ab12 MY CARD IS 4711', 'ab12 2', 'MY CARD', 'correct 1 MY CARD', 'my card'],
  ])
})

it('R8: a hook learns whether it is asked about an edit, and the words as they were sent stay with those it gave', async () => {
  const asked: BeforeSave[] = []
  const original = message({ address: group('-1'), text: 'mine' })
  const hooks = async (given: BeforeSave): Promise<string> => {
    asked.push(given)
    return given.text === 'same' ? 'same' : 'changed'
  }
  const changed = await asHooksLeave(dispatchOf(edit({ ...original, kind: 'edit' })), hooks)
  const same = await asHooksLeave(dispatchOf({ ...original, text: 'same' }), hooks)
  expect(asked.map(({ edit }) => edit)).toEqual([true, false])
  expect(changed).toMatchObject({ raw: 'mine', event: { text: 'changed' } })
  expect(same).not.toHaveProperty('raw')
})

it('R8: a reminder is asked about where it is made, and not where it is listed or cancelled', async () => {
  const { pass, events } = loudGate()
  for (const args of ['me tomorrow to call', 'list', 'cancel r1', 'listen to it at noon'])
    await pass(command('remind', { address: direct('111'), args }))
  for (const name of ['constructor', 'toString']) await pass(command(name, { address: direct('111'), args: 'mine' }))
  expect(events.map((event) => event.kind === 'command' && event.args)).toEqual([
    ...['ME TOMORROW TO CALL', 'list', 'cancel r1', 'LISTEN TO IT AT NOON', 'mine', 'mine'],
  ])
})

it('R8: a third message waits for the second, which the first has let go', async () => {
  const { held, stored, pass } = loudGate('first', 'second', 'third')
  const all = ['first', 'second', 'third'].map((text) => pass(say(text)))
  held.get('first')?.resolve()
  await all[0]
  // The first has ended, which must not look as if nothing passed any more.
  all.push(pass(say('fourth')))
  held.get('third')?.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect(stored).toEqual(['FIRST'])
  held.get('second')?.resolve()
  await Promise.all(all)
  expect(stored).toEqual(['FIRST', 'SECOND', 'THIRD', 'FOURTH'])
})

it('R8: no hook is asked about a choice by its number', async () => {
  const asked: string[] = []
  const decided = (dispatch: Dispatch): Decided => ({
    dispatch,
    decision: decide(household(), dispatch.event, COMMANDS),
  })
  const hooks = {
    has: () => true,
    beforeSave: async ({ text }: BeforeSave) => {
      asked.push(text)
      return text
    },
  }
  const gate = saveGate(decided, hooks, () => undefined)
  for (const args of ['ab12 2', 'ab12 123 ', 'ab12 1234', 'ab12 two'])
    await gate(dispatchOf(command('answer', { address: direct('111'), args })))
  expect(asked).toEqual(['1234', 'two'])
})

it('R8: the words of an edit are asked about too', async () => {
  const { pass, events } = loudGate()
  await pass(edit({ address: direct('111'), text: 'mine' }))
  expect(events).toMatchObject([{ kind: 'edit', text: 'MINE' }])
})
