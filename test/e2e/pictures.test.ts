import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { DOT } from '../fakes/pictures.ts'
import { withDatabase } from '../store/temp-database.ts'
import { startHousehold } from './household.ts'

/** A camera: its picture is what the test puts into it. */
function camera(picture: { bytes: Uint8Array }): Tool {
  return {
    spec: { name: 'photograph', description: 'Takes a picture.', parameters: { type: 'object', properties: {} } },
    class: 'pure',
    reach: 'inside',
    run: async (_, context) => ({
      content: [{ type: 'text', text: 'Here it is.' }, await context.keep(picture.bytes, 'garden.png')],
    }),
  }
}

/** Asks for a picture when somebody says "look", and says "seen" once it has a result. */
const looking: Script = (request) =>
  lastUserText(request) === 'look'
    ? { blocks: [{ type: 'tool_use', name: 'photograph', input: {} }] }
    : textReply('seen')

async function house(bytes: Uint8Array) {
  const picture = { bytes }
  const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You are Parley.', tools: ['camera'] }
  const started = await startHousehold({
    streaming: false,
    script: looking,
    config: { agents: [agent] },
    tools: { camera: [camera(picture)] },
  })
  const { telegram, anthropic } = started
  return {
    ...started,
    picture,
    /** Says a word and resolves with the answer, once it was sent. */
    async say(text: string): Promise<string> {
      const mark = telegram.ledger.mark()
      telegram.world.say({ from: 111, text })
      return (await telegram.ledger.nextFromBot('sent', { after: mark })).text
    },
    /** Returns the results that the model was shown with its newest request. */
    shown: () => (anthropic?.ledger.requests() ?? []).at(-1)?.messages.at(-1)?.content,
  }
}

/** A picture that begins as one and is torn. */
const TORN = DOT.slice(0, 20)
/** The largest that Anthropic accepts, and a byte. */
const HUGE = Uint8Array.from({ length: 3_932_161 }, (_, at) => DOT[at] ?? 0)

describe('a picture that a tool returns', () => {
  it('C25: is shown to the model, and its row has nothing but the handle', async () => {
    const { say, shown, dataDir } = await house(DOT)
    expect(await say('look')).toBe('seen')
    const data = Buffer.from(DOT).toString('base64')
    expect(shown()).toMatchObject([
      {
        type: 'tool_result',
        content: [
          { type: 'text', text: 'Here it is.' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
        ],
      },
    ])
    const rows = withDatabase(join(dataDir, 'parley.db'), (database) =>
      database.prepare("SELECT data FROM events WHERE type = 'tool_result'").all(),
    ) as { data: string }[]
    expect(rows).toHaveLength(1)
    expect(JSON.parse(rows[0]?.data ?? '')).toMatchObject({
      content: [
        { type: 'text' },
        { type: 'image', media: expect.stringMatching(/^media:/), size: DOT.length, name: 'garden.png' },
      ],
    })
    expect(rows[0]?.data).not.toContain(data.slice(0, 40))
  })

  it('C27: is not sent again with a later turn', async () => {
    const { say, shown, anthropic } = await house(DOT)
    await say('look')
    expect(await say('and now?')).toBe('seen')
    expect(shown()).toMatchObject([{ type: 'text', text: expect.stringMatching(/and now\?$/) }])
    expect(JSON.stringify(anthropic?.ledger.requests().at(-1))).not.toContain('"image"')
  })

  it('that the model does not take is left out, the model is told, and the answer comes once', async () => {
    const { say, shown, telegram } = await house(TORN)
    expect(await say('look')).toBe('seen')
    expect(JSON.stringify(shown())).toContain('[image: garden.png, image/png, 20 B] (you cannot be shown this picture)')
    expect(telegram.world.messages(111, { by: 'bot' })).toHaveLength(1)
    expect(await say('still there?')).toBe('seen')
  })

  it('that is larger than the model takes is named in words, without a request that is refused', async () => {
    const { say, shown, anthropic } = await house(HUGE)
    expect(await say('look')).toBe('seen')
    expect(JSON.stringify(shown())).toContain('[image: garden.png, image/png, 3.9 MB]')
    expect(anthropic?.ledger.entries.filter(({ kind }) => kind === 'refused')).toEqual([])
  })
})
