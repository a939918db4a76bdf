import { describe, expect, it } from 'vitest'
import { textContent, textOf } from '../../src/core/content.ts'
import type { ModelRequest } from '../../src/core/model.ts'
import { agentWith, call, fakeModel, never, play, results, type Say, tool, turnRequest } from './turns.ts'

const again = (n: number, args: unknown = { of: 'x' }): Say => ({ calls: [call(`c${n}`, 'look', args)] })
const warnings = (request: ModelRequest | undefined) =>
  request?.messages.filter((message) => message.role === 'user' && textOf(message.content).startsWith('[notice]'))
    .length

async function playSays(...says: Say[]) {
  let runs = 0
  const look = tool('look', { run: async () => String(++runs) })
  const model = fakeModel(...says)
  const played = await play(agentWith(model, [look])(turnRequest(), never()))
  return { model, played, runs: () => runs }
}

describe('doom-loop', () => {
  it('R16: three identical consecutive calls add exactly one warning to the next requests', async () => {
    const { model, played } = await playSays(again(1), again(2), again(3), again(4, { of: 'y' }), { deltas: ['done'] })
    expect(model.requests.map(warnings)).toEqual([0, 0, 0, 1, 1])
    expect(played.result).toMatchObject({ kind: 'final', text: 'done', steps: 5 })
    expect(played.result).not.toHaveProperty('error')
  })

  it('R16: two identical or three differing calls add none', async () => {
    const { model } = await playSays(again(1), again(2), again(3, { of: 'y' }), again(4), { deltas: ['done'] })
    expect(model.requests.map(warnings)).toEqual([0, 0, 0, 0, 0])
  })

  it('R16: parallel calls of one step count too', async () => {
    const { model } = await playSays(
      { calls: [1, 2, 3, 4].map((n) => call(`c${n}`, 'look', { of: 'x' })) },
      { deltas: ['done'] },
    )
    expect(model.requests.map(warnings)).toEqual([0, 1])
  })

  it.each([
    ['the arguments', '{"of":"x","to":1,"page":2}', '{"page":2,"to":1.0,"of":"x"}', '{"to":1e0,"of":"x","page":2}'],
    [
      'a nested object',
      '{"q":{"a":[{"b":1,"c":2}],"d":3}}',
      '{"q":{"d":3,"a":[{"c":2,"b":1}]}}',
      '{"q":{"d":3.0,"a":[{"b":1,"c":2}]}}',
    ],
    ['an object with __proto__', '{"__proto__":1,"b":2}', '{"b":2,"__proto__":1}', '{"__proto__":1,"b":2}'],
  ])('R16: the order of the keys in %s and the form of numbers make no other call', async (_, ...forms) => {
    const calls = forms.map((args, n): Say => ({ calls: [call(`c${n}`, 'look', JSON.parse(args))] }))
    const { model } = await playSays(...calls, { deltas: ['done'] })
    expect(model.requests.map(warnings)).toEqual([0, 0, 0, 1])
  })

  it.each([
    ['the order of a list', '{"of":[1,2]}', '{"of":[2,1]}'],
    ['a text instead of a number', '{"of":1}', '{"of":"1"}'],
    ['null instead of nothing', '{"of":null}', '{}'],
    ['a value under another key', '{"a":{"b":1}}', '{"a":{"c":1}}'],
    ['a key like __proto__', '{"__proto__":{"b":1}}', '{"__proto__":{"b":2}}'],
  ])('R16: %s makes another call', async (_, one, other) => {
    const calls = [one, one, other].map((args, n): Say => ({ calls: [call(`c${n}`, 'look', JSON.parse(args))] }))
    const { model } = await playSays(...calls, { deltas: ['done'] })
    expect(model.requests.map(warnings)).toEqual([0, 0, 0, 0])
  })

  it('R17: a further identical call after the warning is not run and ends the turn with a reason', async () => {
    const { model, played, runs } = await playSays(again(1), again(2), again(3), again(4), { deltas: ['never'] })
    expect(model.requests).toHaveLength(4)
    expect(runs()).toBe(3)
    expect(results(played.journal).at(-1)).toMatchObject({ callId: 'c4', isError: true })
    expect(played.result).toMatchObject({
      kind: 'final',
      text: 'I stopped here because I kept repeating the same step.',
      error: 'turn_limit',
      steps: 4,
    })
  })

  it('R17: the count survives a crash because it is read from the messages', async () => {
    const step = (n: number) => [
      { role: 'assistant' as const, text: '', calls: [call(`c${n}`, 'look', { of: 'x' })] },
      { role: 'tool' as const, results: [{ id: `c${n}`, content: textContent('1'), isError: false }] },
    ]
    const messages = [{ role: 'user' as const, content: textContent('hello') }, ...[1, 2, 3].flatMap(step)]
    const model = fakeModel(again(4))
    const played = await play(agentWith(model, [tool('look')])(turnRequest({ messages }), never()))
    expect(played.result).toMatchObject({ error: 'turn_limit' })
    expect(model.requests).toHaveLength(1)
  })
})
