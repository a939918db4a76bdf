import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import * as z from 'zod'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { DaemonChild, PRODUCT } from '../faults/daemon-child.ts'

const ADA = 111
const NAME = 'conformance'
/** More than the suite allows a client: it is Parley that has to say when a further login helps nothing. */
const MOST_LOGINS = 5
/** The address that the suite expects of a client which has described itself on the web: an operator sets it. */
const METADATA = 'https://conformance-test.local/client-metadata.json'

const url = process.argv.at(-1) ?? ''
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const context = z
  .object({ client_id: z.string(), client_secret: z.string() })
  .partial()
  .parse(JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'))

/** Of a tool of the suite. */
const SCHEMA = z.object({ properties: z.record(z.string(), z.object({ type: z.string() })) })

/**
 * Uses a tool of the server and says what came back: the one that echoes, if there is one, with how the other is offered,
 * else any; a number is wanted of all the others.
 */
const model: Script = ({ messages, tools = [] }) => {
  const last = messages.at(-1)?.content
  const result = typeof last === 'string' ? undefined : last?.find((block) => block.type === 'tool_result')
  if (result !== undefined)
    return textReply(`${result.is_error ? 'it fails' : 'it says'}: ${JSON.stringify(result.content)}`)
  const offered = tools.flatMap((tool) => ('input_schema' in tool && tool.name.startsWith(`${NAME}__`) ? [tool] : []))
  const tool = offered.find(({ name }) => name.endsWith('echo')) ?? offered[0]
  if (tool === undefined) return textReply('it fails: there is no tool')
  const other = offered.find((one) => one !== tool)?.input_schema ?? {}
  const fields = Object.entries(SCHEMA.parse(tool.input_schema).properties)
  const input = Object.fromEntries(fields.map(([name, { type }]) => [name, type === 'object' ? other : 2]))
  return { blocks: [{ type: 'tool_use', name: tool.name, input }] }
}

const folder = mkdtempSync(join(tmpdir(), 'parley-conformance-'))
const env = { HOME: folder, XDG_STATE_HOME: folder, XDG_RUNTIME_DIR: folder, STATE_DIRECTORY: '' }
const configFile = join(folder, 'parley.yaml')
const logFile = join(folder, 'daemon.log')
const telegram = await startTelegramServer()
const anthropic = await startAnthropicServer({ script: model })
telegram.world.addUser({ id: ADA, firstName: 'Ada' })
// JSON is YAML.
writeFileSync(configFile, JSON.stringify(config()), { mode: 0o600 })
writeFileSync(logFile, '')
const daemon = new DaemonChild({ entry: PRODUCT, args: ['start', '--config', configFile], env, logFile, telegram })
let logins = 0
try {
  const well = await operate()
  if (!well) process.stderr.write(daemon.logTail())
  process.exitCode = well ? 0 : 1
} finally {
  if (daemon.running) await daemon.terminate()
  await Promise.all([telegram.close(), anthropic.close()])
  rmSync(folder, { recursive: true })
}

function config(): object {
  const clientId = scenario === 'auth/basic-cimd' ? METADATA : context.client_id
  const oauth = clientId === undefined ? {} : { oauth: { clientId, clientSecret: context.client_secret } }
  const account = { token: telegram.token, apiRoot: telegram.apiRoot, streaming: false }
  return {
    people: { ada: { role: 'owner', ids: [`telegram:${ADA}`] } },
    agents: [{ id: 'main', model: 'anthropic/rehearsal', tools: [`mcp.${NAME}`] }],
    models: { anthropic: { apiKey: anthropic.apiKey, baseUrl: anthropic.baseUrl } },
    channels: { telegram: { accounts: { default: account } } },
    tools: { mcp: { [NAME]: { url, inside: ['*'], timeoutSeconds: 20, ...oauth } } },
  }
}

/** Does what an operator does with a new server, and then has a tool of it used in a chat. Returns true if that went well. */
async function operate(): Promise<boolean> {
  const tested = await withLogins(() => ended(parley('test')))
  if (!tested.well || scenario === 'initialize') return tested.well
  await daemon.start()
  return (await withLogins(chat)).well
}

interface Outcome {
  readonly well: boolean
  readonly words: string
}

/** Logs in whenever the words ask for it, and tries again. */
async function withLogins(act: () => Promise<Outcome>): Promise<Outcome> {
  for (;;) {
    const outcome = await act()
    process.stdout.write(`${outcome.words}\n`)
    if (outcome.well || !outcome.words.includes(`parley mcp login ${NAME}`) || logins === MOST_LOGINS) return outcome
    logins++
    const login = await logIn()
    if (!login.well) return login
  }
}

type Command = ChildProcessByStdio<null, Readable, Readable>

function parley(command: 'test' | 'login'): Command {
  const args = [PRODUCT, 'mcp', command, NAME, '--json', '--config', configFile]
  return spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function ended(child: Command): Promise<Outcome> {
  const [[code], said, wrong] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { well: code === 0, words: said + wrong }
}

/** Logs in as somebody whose browser runs here. */
async function logIn(): Promise<Outcome> {
  const child = parley('login')
  const end = ended(child)
  for await (const line of createInterface({ input: child.stdout })) {
    // The outcome, behind it, stands on several lines.
    if (line.startsWith('{"open"')) await visit(z.object({ open: z.string() }).parse(JSON.parse(line)).open)
  }
  const outcome = await end
  if (!outcome.well) process.stdout.write(`${outcome.words}\n`)
  return outcome
}

/** Opens an address as a browser does, and goes wherever that sends it, which is back to Parley in the end. */
async function visit(open: string): Promise<void> {
  const response = await fetch(open)
  const page = await response.text()
  if (!response.ok) throw new Error(`The browser is shown ${response.status}: ${page}`)
}

/** Asks for the tool, answers what is asked meanwhile with what the form offers by itself, and returns what came of it. */
async function chat(): Promise<Outcome> {
  const { ledger, world } = telegram
  let after = ledger.mark()
  world.say({ from: ADA, text: 'Use your tool.' })
  for (;;) {
    const { text: words } = await ledger.nextFromBot('sent', {
      ...{ after, timeoutMs: 100_000 },
      where: (sent) => /^it (says|fails):|\/answer \w+/.test(sent.text),
    })
    if (words.startsWith('it ')) return { well: words.startsWith('it says'), words }
    process.stdout.write(`${words}\n`)
    after = ledger.mark()
    const [, code] = /\/answer (\w+)/.exec(words) ?? []
    const [, offered = 'Leave empty'] = /^\d+\. (.*default.*)$/im.exec(words) ?? []
    world.say({ from: ADA, text: `/answer ${code} ${offered}` })
  }
}
