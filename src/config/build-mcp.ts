import { resolve } from 'node:path'
import type { McpSettings } from './config.ts'
import type { Mistake } from './mistake.ts'
import { programAt, programMistake } from './program-at.ts'
import type { ConfigFile } from './schema.ts'
import { Secret } from './secrets.ts'

type ServerBlock = ConfigFile['tools']['mcp'][string]

/** Builds the tool servers. Each is a program or an address, never both. */
export function buildMcp({ tools: { mcp } }: ConfigFile, folder: string): readonly McpSettings[] {
  return Object.entries(mcp).map(([name, block]) => ({
    name,
    at: placeOf(block, folder),
    ...(block.tools === undefined ? {} : { tools: block.tools }),
    inside: block.inside.map((one) => (typeof one === 'string' ? { tools: [one] } : one)),
    ...(block.trusted ? { trusted: true } : {}),
    ...boundsOf(block, folder),
    timeoutMs: block.timeoutSeconds * 1_000,
  }))
}

function boundsOf(block: ServerBlock, folder: string): Pick<McpSettings, 'bounds'> {
  const { arguments: taken, tier = 'sandboxed', folders = [], allowedCommands = [] } = block
  if (taken === undefined) return {}
  const named = taken.map(({ tools, paths = [], command = [] }) => ({ tools, paths, command: [command].flat() }))
  const reached = folders.map((one) => resolve(folder, one))
  return { bounds: { tier, folders: reached, arguments: named, allowedCommands } }
}

function placeOf(block: ServerBlock, folder: string): McpSettings['at'] {
  const { command, args = [], env = {}, folder: own, url, headers = {}, oauth } = block
  if (command === undefined)
    return { kind: 'address', url: url ?? '', headers: covered(headers), ...(oauth && { login: loginOf(oauth) }) }
  const started = { command: programAt(command, folder), folder: resolve(folder, own ?? '.') }
  return { kind: 'program', ...started, args, env: covered(env) }
}

function loginOf({ clientSecret, ...own }: NonNullable<ServerBlock['oauth']>) {
  return { ...own, ...(clientSecret === undefined ? {} : { clientSecret: new Secret(clientSecret) }) }
}

function covered(values: Readonly<Record<string, string>>): Readonly<Record<string, Secret>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)]))
}

export function mcpMistakes({ tools: { mcp } }: ConfigFile, configFolder: string): Mistake[] {
  return Object.entries(mcp).flatMap(([name, block]) => {
    const words = mistakeIn(block, configFolder)
    return words === undefined ? [] : [{ path: ['tools', 'mcp', name], message: `tools.mcp.${name}: ${words}` }]
  })
}

function mistakeIn(block: ServerBlock, configFolder: string): string | undefined {
  return mistakenPlace(block, configFolder) ?? mistakenBounds(block)
}

function mistakenBounds({ arguments: taken, tier, folders, allowedCommands }: ServerBlock): string | undefined {
  if (taken === undefined) {
    const idle = (tier === 'full' ? undefined : tier) ?? folders ?? allowedCommands
    return idle && 'tier, folders and allowedCommands need arguments, which says what is a path and what a command'
  }
  const commands = taken.some(({ command }) => command !== undefined)
  if (commands && allowedCommands === undefined)
    return 'needs allowedCommands, the programs that a command may begin with'
  if (tier === 'full') return folders && 'tier full reaches every folder; take out folders'
  if (folders === undefined) return 'needs folders, where its paths may lead, or tier: full'
  return folders.length > 1 && tier !== 'workspace'
    ? 'sandboxed is one folder; set tier: workspace for several'
    : undefined
}

function mistakenPlace(block: ServerBlock, configFolder: string): string | undefined {
  if (block.command !== undefined) return mistakenProgram(block.command, block, configFolder)
  const { args, env, folder, url, oauth } = block
  if (url === undefined) return 'needs command, or url for a server that runs already'
  if ((args ?? env ?? folder) !== undefined) return 'args, env and folder belong to a command'
  if (oauth?.clientSecret !== undefined && oauth.clientId === undefined)
    return 'oauth.clientSecret needs oauth.clientId'
  const { username, password } = new URL(url)
  return username + password === '' ? undefined : 'url must have no name or password in it; write them as headers'
}

function mistakenProgram(
  command: string,
  { args = [], url, headers, oauth, trusted }: ServerBlock,
  configFolder: string,
): string | undefined {
  if (url !== undefined) return 'has both command and url; keep one of them'
  if ((headers ?? oauth) !== undefined)
    return 'headers and oauth belong to a url; a program gets what it needs under env'
  if (trusted !== undefined) return 'trusted belongs to a url; a command is trusted anyway'
  return programMistake(command, configFolder) ?? (/^npx(\.cmd)?$/.test(command) ? mistakenNpx(args) : undefined)
}

/** Without a package `npx` opens a shell, which waits for ever. */
function mistakenNpx(args: readonly string[]): string | undefined {
  const joined = args.find((arg) => /^-\S+\s/.test(arg))
  if (joined !== undefined) return `args has several arguments in one, "${joined}"; write each as an entry of its own`
  const isNamed = args.some((arg) => !arg.startsWith('-') || /^(-p|-c|--package|--call)\b/.test(arg))
  return isNamed ? undefined : 'npx needs the name of a package under args'
}
