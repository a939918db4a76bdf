import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { McpSettings } from '../../src/config/config.ts'
import type { ToolRule } from '../../src/core/approval.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

/** Returns the program of a package of somebody else's. */
export function packaged(name: string): string {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
  return join(dirname(manifest), 'dist', 'index.js')
}

type Marks = Partial<Pick<McpSettings, 'tools' | 'inside' | 'bounds'>>

export function program(name: string, args: readonly string[], marks: Marks = {}): McpSettings {
  const [, short = ''] = /server-(\w+)$/.exec(name) ?? []
  const at = { kind: 'program', command: process.execPath, args: [packaged(name), ...args], env: {} } as const
  return { name: short, at, inside: [], timeoutMs: 20_000, ...marks }
}

/** Does what anybody says: `use <tool> <arguments>`. */
const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  const [, tool, args] = /use ([\w-]+) (\{.*\})/.exec(lastUserText(request)) ?? []
  if (tool === undefined || args === undefined) return textReply('fine')
  return { blocks: [{ type: 'tool_use', name: tool, input: JSON.parse(args) as Readonly<Record<string, unknown>> }] }
}

interface Household {
  readonly rules?: readonly ToolRule[]
  readonly log?: AwaitedLog
  /** The number of servers whose tools are waited for; default: all. */
  readonly ready?: number
}

/** Starts a daemon with tool servers, an owner, 111, and a member, 444, of whom each says what the model does. */
export async function toolHousehold(mcp: readonly McpSettings[], given: Household = {}) {
  const { rules = [], log = new AwaitedLog(), ready = mcp.length } = given
  const tools = ['message', ...mcp.map(({ name }) => `mcp.${name}`)]
  const house = await startHousehold({
    ...{ script, streaming: false, logger: log, lateTools: ready === 0 },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools }],
      mcp,
      toolPolicy: rules,
    },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [] },
    }),
  })
  if (ready > 0) await log.line('The tools of a server are there', { nth: ready })
  const { world, ledger } = house.telegram
  const say = async (from: number, text: string, words = ''): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text })
    const where = ({ chatId, text: said }: { chatId: number; text: string }) => chatId === from && said.includes(words)
    return (await ledger.nextFromBot('sent', { after, where })).text
  }
  const use = (tool: string, args: object): string => `use ${tool} ${JSON.stringify(args)}`
  return { house, say, use, log }
}
