import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { startTwoMore } from './three-platforms.ts'

const KEY = 'sk-canary-0123456789'

/** Shows what it finds, as a tool server would that logs its environment. */
const leaky: Tool = {
  ...{ class: 'pure', reach: 'inside', foreign: true },
  spec: { name: 'env', description: 'env', parameters: { type: 'object', properties: {} } },
  async run(args) {
    if (JSON.stringify(args).includes('fail')) throw new Error(`refused: ${KEY}`)
    return `API_KEY=${KEY} ${Buffer.from(`user:${KEY}`).toString('base64')}`
  },
}

const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`found ${result}`)
  const text = lastUserText(request)
  if (!text.startsWith('look')) return textReply(`heard ${text}`)
  return { blocks: [{ type: 'tool_use', name: 'env', input: { how: text } }] }
}

/** The names of all files below a folder, with what is in them. */
function files(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}

it('C29: the value of a secret is in no row, no prompt and no answer, whoever or whatever says it', async () => {
  const beside = await startTwoMore()
  const house = await startHousehold({
    ...{ script, streaming: false, beside, tools: { env: [leaky] } },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['env'] }],
      secrets: [new Secret(KEY)],
    },
  })
  const { world, ledger } = house.telegram
  const said = async (text: string, more: object = {}): Promise<string> => {
    const after = ledger.mark()
    world.say({ from: 111, text, ...more })
    return (await ledger.nextFromBot('sent', { after })).text
  }
  expect(await said('look')).toMatch(/^found API_KEY=\[secret\] \S*\[secret\]\S*$/)
  expect(await said('look and fail')).toBe('found refused: [secret]')
  expect(await said(`my key is ${KEY}, keep it`)).toContain('heard my key is [secret], keep it')
  const document = { file_id: 'f', file_unique_id: 'u', file_name: `${KEY}.txt`, file_size: 9 }
  await said('', { extra: { text: undefined, caption: `see ${KEY}`, document } })
  world.addUser({ id: 111, firstName: KEY })
  await said('and now?')
  const message = world.say({ from: 111, text: 'short' })
  await expect.poll(async () => (await house.daemon.operator.why(String(message.message_id)))[0]).toBeDefined()
  await house.daemon.operator.sessions.post('cli:desk', { text: `post ${KEY}` })
  const { slack } = beside
  const channel = slack.world.addChannel({ name: 'attic', members: ['U333', 'U444'] })
  slack.world.setMember(channel, false)
  const thread = slack.world.say({ from: 'U444', channel, text: `thread ${KEY}` })
  slack.world.setMember(channel, true)
  const after = slack.ledger.mark()
  slack.world.say({ from: 'U333', channel, thread, text: '<@U0BOT> well?' })
  await slack.ledger.nextFromBot('sent', { after })
  const prompts = house.anthropic?.ledger.entries.map((entry) => JSON.stringify(entry)) ?? []
  expect(prompts.filter((prompt) => prompt.includes(KEY))).toEqual([])
  await house.daemon.stop()
  expect(files(house.dataDir).filter((path) => readFileSync(path).includes(KEY))).toEqual([])
})
