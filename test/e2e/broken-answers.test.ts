import { describe, expect, it } from 'vitest'
import { lastUserText, type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { type Household, startHousehold } from './household.ts'
import { startTwoMore, type TwoMore } from './three-platforms.ts'

type Whole = Household & TwoMore

/** Stops at the gate once its first piece is out, and breaks off before its last. */
function breaking(pieces: readonly string[], gate: ReturnType<typeof createGate>): Reply {
  return textReply(pieces.join(''), {
    split: () => pieces,
    holds: [{ beforeDelta: 1, gate }],
    interrupt: { kind: 'cut', afterDelta: pieces.length - 1 },
  })
}

async function everywhere(script: Script): Promise<Whole> {
  const more = await startTwoMore()
  return Object.assign(await startHousehold({ script, beside: more }), more)
}

/** Breaks off what is answered to `break`, each at a gate of its own; says everything else again. */
async function household(...pieces: readonly string[]) {
  const gates: ReturnType<typeof createGate>[] = []
  const script: Script = (request) => {
    const asked = lastUserText(request)
    if (!asked.includes('break')) return textReply(`heard ${asked}`)
    const gate = createGate()
    gates.push(gate)
    return breaking(pieces, gate)
  }
  return { house: await everywhere(script), breakOff: () => gates.at(-1)?.release() }
}

interface Chat {
  say(text: string): void
  /** The first message of the bot with these words, new or edited. */
  shows(words: string): Promise<unknown>
  texts(): readonly string[]
  /** Messages that were sent, not edited. */
  sends(): number
}

function chatsOf({ telegram, discord, slack }: Whole): Readonly<Record<string, Chat>> {
  const room = discord.world.direct('222').channel
  const desk = slack.world.direct('U333').id
  return {
    Telegram: {
      say: (text) => void telegram.world.say({ from: 111, text }),
      shows: (words) =>
        telegram.ledger.next((one) => one.kind === 'message' && one.botId !== null && one.text.includes(words)),
      texts: () => telegram.world.messages(111, { by: 'bot' }).map(({ message }) => message.text ?? ''),
      sends: () => telegram.ledger.calls('sendMessage').length,
    },
    Discord: {
      say: (text) => void discord.world.say({ from: '222', text }),
      shows: (words) => discord.ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes(words)),
      texts: () => discord.world.messages(room, { bot: true }).map(({ message }) => message.content),
      sends: () => discord.ledger.calls('createMessage').length,
    },
    Slack: {
      say: (text) => void slack.world.say({ from: 'U333', text }),
      shows: (words) => slack.ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes(words)),
      texts: () => slack.world.messages(desk, { by: 'bot' }).map(({ message }) => message.text ?? ''),
      sends: () => slack.ledger.calls('chat.postMessage').length,
    },
  }
}

const BROKE_OFF =
  /\n\nThe answer broke off here\. The connection to my language model failed; please try again in a few minutes\. \(tr_\w+\)$/

describe('an answer that breaks off', () => {
  it('stays as far as it came where people saw it grow, with one line below, on every platform', async () => {
    const { house, breakOff } = await household('The first half, ', 'and a bit more <NO_REP', 'LY> that never came')
    for (const [name, chat] of Object.entries(chatsOf(house))) {
      const before = chat.sends()
      chat.say('please break')
      await chat.shows('The first half,')
      breakOff()
      await chat.shows('broke off')
      const [text = '', ...more] = chat.texts()
      expect([name, text.replace(BROKE_OFF, ' †'), more]).toEqual([name, 'The first half, and a bit more †', []])
      chat.say('and now?')
      await chat.shows('heard and now?')
      expect([name, chat.texts().length, chat.sends() - before]).toEqual([name, 2, 2])
    }
    const { sessions } = house.daemon.operator
    const { sessions: listed } = await sessions.list({ limit: 20, offset: 0, inactive: true })
    expect(listed).toHaveLength(3)
    for (const { id } of listed) {
      const { events } = await sessions.show(id)
      expect(events.filter(({ type }) => type === 'session:turn_completed').map(({ text }) => text)).toEqual([
        'failed: model_failed, after this was shown: The first half, and a bit more',
        'answered',
      ])
    }
    expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1))).not.toContain('first half')
  })

  it('in the middle of a code block has its line outside of the block', async () => {
    const { house, breakOff } = await household('```js\nlet a = 1\n', 'let b', ' = 2\n```')
    const { Telegram: chat } = chatsOf(house)
    chat?.say('please break')
    await chat?.shows('let a')
    breakOff()
    await chat?.shows('broke off')
    const [message] = house.telegram.world.messages(111, { by: 'bot' })
    const code = message?.message.entities?.find(({ type }) => type === 'pre')
    expect(code && message?.message.text?.slice(code.offset, code.offset + code.length).trim()).toBe('let a = 1\nlet b')
  })
})
