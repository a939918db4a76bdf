import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { SlackEntry } from '../../src/rehearsal/slack/ledger-entries.ts'
import { png } from '../fakes/files.ts'
import { toolResult } from './obedient.ts'
import { startSlackHousehold } from './slack-household.ts'

/** Returns what the bot has answered; a file comes before. */
function answerIn(entry: SlackEntry): string | undefined {
  const isBots = entry.kind === 'whisper' || (entry.kind === 'message' && entry.byBot && entry.change === 'sent')
  return isBots && /^fine|^it says/.test(entry.text) ? entry.text : undefined
}

/** Ada and Bob talk in a thread; "send it" sends the file that was shown first, by the handle it had. */
async function workshop() {
  let handle: string | undefined
  const script: Script = (request) => {
    handle ??= /its handle: (media:\/\/sha256-[0-9a-f]{12})/.exec(JSON.stringify(request.messages))?.[1]
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says: ${result}`)
    if (!lastUserText(request).includes('send it')) return textReply('fine')
    return { blocks: [{ type: 'tool_use', name: 'send_file', input: { file: handle } }] }
  }
  const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Obey.', tools: ['files'] }]
  const home = await startSlackHousehold({ script, agents, others: { default: { streaming: false } } })
  const { world, ledger } = home.slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  const say = async (from: string, text: string, more = {}) => {
    const after = ledger.mark()
    const { ts } = world.say({ from, channel, text: `<@U0BOT> ${text}`, ...more })
    const answer = await ledger.next((entry) => answerIn(entry) !== undefined, { after })
    return { ts, text: answerIn(answer) }
  }
  const { ts: thread } = await say('U333', 'hello')
  const files = [world.attach({ bytes: png(4, 4), name: 'a.png', mime: 'image/png' })]
  const { ts } = await say('U444', 'look', { thread, extra: { subtype: 'file_share', files } })
  return { world, channel, ts, say: (from: string, text: string) => say(from, text, { thread }), home }
}

it('R9: a file that somebody has sent can be sent again by its handle', async () => {
  const { say } = await workshop()
  expect((await say('U333', 'send it')).text).toContain('On its way')
})

it('R9, C23: a file whose message was deleted is not sent again by its handle', async () => {
  const { world, channel, ts, say, home } = await workshop()
  world.remove(channel, ts)
  const [session] = (await home.daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
  const history = async () =>
    JSON.stringify(await home.daemon.operator.sessions.history(session?.id ?? '', { limit: 50 }))
  await expect.poll(history).toContain('message_deleted')
  expect((await say('U333', 'send it')).text).toContain('There is no such file')
})
