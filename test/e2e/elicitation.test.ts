import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { type SetClock, setClock } from './set-clock.ts'

const HOSTILE = fileURLToPath(new URL('../mcp/hostile-server.mjs', import.meta.url))

/** `call <arguments>` has it call the server. */
const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  const [, args] = /call (\{.*\})$/.exec(lastUserText(request)) ?? []
  if (args === undefined) return textReply('fine')
  return {
    blocks: [{ type: 'tool_use', name: 'asker__add', input: JSON.parse(args) as Readonly<Record<string, unknown>> }],
  }
}

const field = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  message: 'Who are `you`?',
  requestedSchema: { type: 'object', properties, required },
})

/** A server that asks what its call says; a call of it has a second. */
async function household({ clock, timeoutMs = 20_000 }: { clock?: SetClock; timeoutMs?: number } = {}) {
  const at = { kind: 'program', command: process.execPath, args: [HOSTILE, 'asks'], env: {} } as const
  const house = await startHousehold({
    ...{ script, streaming: false, ...(clock ? { clock } : {}) },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['mcp.asker'] }],
      mcp: [{ name: 'asker', at, inside: [{ tools: ['*'] }], timeoutMs }],
    },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [] },
    }),
  })
  const { world, ledger } = house.telegram
  const heard = async (words: string, after = 0, chat = 111) =>
    await ledger.nextFromBot('sent', { after, where: ({ chatId, text }) => chatId === chat && text.includes(words) })
  const call = (args: object, from = 111): number => {
    const after = ledger.mark()
    world.say({ from, text: `call ${JSON.stringify(args)}` })
    return after
  }
  /** Answers the next question that stands there; returns it. */
  const answers = async (words: string, after: number, from = 111) => {
    const { text } = await heard('The tool server', after, from)
    const then = ledger.mark()
    world.say({ from, text: `/answer ${/\/answer (\w+)/.exec(text)?.[1]} ${words}` })
    return { text, after: then }
  }
  return { house, world, ledger, heard, call, answers }
}

describe('a question of a tool server', () => {
  it('F-H07: is shown as its own words, field by field, and its answers are given as it wants them', async () => {
    const { heard, call, answers } = await household()
    const properties = {
      name: { type: 'string', title: 'Your name', minLength: 2 },
      age: { type: 'integer', minimum: 1, maximum: 120 },
      sure: { type: 'boolean' },
      tea: { type: 'string', enum: ['g', 'b'], enumNames: ['Green', 'Black'] },
    }
    const begun = call({ questions: [field(properties, ['name', 'age', 'sure'])] })
    const name = await answers('x', begun)
    expect(name.text).toContain('The tool server asker asks:')
    expect(name.text).toContain("Who are 'you'?")
    expect(name.text).toContain('Your name')
    expect((await heard('too short', name.after)).text).toContain('2 characters')
    await answers('Ada', begun)
    const age = await answers('17.5', name.after)
    await heard('no whole number', age.after)
    const again = await answers('200', name.after)
    await heard('too large: 120', again.after)
    await answers('38', name.after)
    const sure = await answers('yes', again.after)
    expect(sure.text).toContain('sure')
    const tea = await answers('2', sure.after)
    expect(tea.text).toContain('3. Leave empty')
    const { text } = await heard('it says:', begun)
    expect(text).toContain('{"action":"accept","content":{"name":"Ada","age":38,"sure":true,"tea":"b"}}')
  })

  it('F-H07: can be declined and cancelled, and left out where it is optional', async () => {
    const { heard, call, answers } = await household()
    for (const [words, action] of [
      ['Decline', '{"action":"decline"}'],
      ['Cancel', '{"action":"cancel"}'],
      ['Leave empty', '{"action":"accept","content":{}}'],
    ] as const) {
      const after = call({ questions: [field({ name: { type: 'string' } }, [])] })
      await answers(words, after)
      expect((await heard('it says:', after)).text).toContain(action)
    }
    const after = call({ questions: [field({})] })
    await answers('Accept', after)
    expect((await heard('it says:', after)).text).toContain('{"action":"accept","content":{}}')
  })

  it('F-H07: is answered by whoever the call was for, and by no stranger', async () => {
    const { world, heard, call, answers } = await household()
    const after = call({ questions: [field({ sure: { type: 'boolean' } })] }, 444)
    const { text } = await heard('The tool server', after, 444)
    world.say({ from: 111, text: `/answer ${/\/answer (\w+)/.exec(text)?.[1]} yes` })
    await heard('asked in another conversation', after)
    await answers('no', after, 444)
    expect((await heard('it says:', after, 444)).text).toContain('"sure":false')
    const strange = call({ questions: [field({ sure: { type: 'boolean' } })] }, 555)
    expect((await heard('it says:', strange, 555)).text).toContain('I ask only people I know')
  })

  it('F-H07: a storm of them ends after three, and the model is told', async () => {
    const { ledger, heard, call, answers } = await household()
    const storm = Array.from({ length: 20 }, () => field({ sure: { type: 'boolean' } }))
    const after = call({ questions: storm, atOnce: true })
    let next = after
    for (let nth = 0; nth < 3; nth++) next = (await answers('yes', next)).after
    const { text } = await heard('it says:', after)
    expect(text).toContain('asked more than 3 times in one call')
    expect(text.match(/"accept"/g)).toHaveLength(3)
    expect(text.match(/"cancel"/g)).toHaveLength(17)
    expect(
      ledger.all(
        (entry) => entry.kind === 'message' && entry.change === 'sent' && entry.text.includes('The tool server'),
      ),
    ).toHaveLength(3)
  })

  it('F-H07: of another form, by an address, or a wish for a model is refused', async () => {
    const { heard, call } = await household()
    for (const [question, outcome] of [
      [field({ deep: { type: 'object' } }), 'neither text, number, yes or no, nor a choice'],
      [field({ pick: { type: 'string', enum: ['Decline', 'yes'] } }), 'one of mine'],
      [{ ...field({}), message: 'x'.repeat(1_001) }, 'longer than 1000'],
      [{ mode: 'url', message: 'go', url: 'https://x.invalid', elicitationId: 'a' }, 'does not support URL-mode'],
    ] as const) {
      const after = call({ questions: [question] })
      expect((await heard('it says:', after)).text).toContain(outcome)
    }
  })

  it('F-H07: the time of its call stands still while somebody is asked, and nobody’s answer is a cancel', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const { ledger, heard, call } = await household({ clock, timeoutMs: 30_000 })
    const waits = clock.timerOf(120_000, 5_000)
    const after = call({ questions: [field({ sure: { type: 'boolean' } })] })
    await heard('The tool server', after)
    await waits
    clock.skip(120_000)
    expect((await heard('it says:', after)).text).toContain('nobody answered in time')
    await ledger.nextFromBot('edited', { after, where: ({ text }) => text.includes('Nobody answered in time') })
  })

  it('F-H07: waits on while something else is said, unlike a question of the agent', async () => {
    const { world, ledger, heard, call, answers } = await household()
    const after = call({ questions: [field({ sure: { type: 'boolean' } })] })
    await heard('The tool server', after)
    world.say({ from: 111, text: 'hello?' })
    await ledger.confirmed(ledger.updateIdOf(world.say({ from: 111, text: 'still there?' })))
    await answers('yes', after)
    expect((await heard('it says:', after)).text).toContain('"sure":true')
  })

  it('F-H07: is over when its call has ended without it', async () => {
    const { ledger, heard, call } = await household()
    const after = call({ questions: [field({ sure: { type: 'boolean' } })], waits: false })
    expect((await heard('it says:', after)).text).toContain('went on')
    const shown = ledger.all((entry) => entry.kind === 'message' && entry.text.includes('The tool server'))
    if (shown.length > 0)
      await ledger.nextFromBot('edited', { after, where: ({ text }) => text.includes('not wanted any more') })
  })
})
