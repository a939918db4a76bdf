import { resolve } from 'node:path'
import type { McpSettings } from './config.ts'
import type { Mistake } from './mistake.ts'
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
    timeoutMs: block.timeoutSeconds * 1_000,
  }))
}

function placeOf({ command, args = [], env = {}, folder: own, url, headers = {} }: ServerBlock, folder: string) {
  if (command === undefined) return { kind: 'address', url: url ?? '', headers: covered(headers) } as const
  const started = own === undefined ? {} : { folder: resolve(folder, own) }
  return { kind: 'program', command, args, env: covered(env), ...started } as const
}

function covered(values: Readonly<Record<string, string>>): Readonly<Record<string, Secret>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)]))
}

export function mcpMistakes({ tools: { mcp } }: ConfigFile): Mistake[] {
  return Object.entries(mcp).flatMap(([name, block]) => {
    const words = mistakeIn(block)
    return words === undefined ? [] : [{ path: ['tools', 'mcp', name], message: `tools.mcp.${name}: ${words}` }]
  })
}

function mistakeIn({ command, args, env, folder, url, headers, trusted }: ServerBlock): string | undefined {
  if (command === undefined && url === undefined) return 'needs command, or url for a server that runs already'
  if (command !== undefined && (url ?? headers) !== undefined) return 'has both command and url; keep one of them'
  if (command !== undefined && trusted !== undefined) return 'trusted belongs to a url; a command is trusted anyway'
  if (url !== undefined && (args ?? env ?? folder) !== undefined) return 'args, env and folder belong to a command'
  const { username, password } = new URL(url ?? 'https://none')
  return username + password === '' ? undefined : 'url must have no name or password in it; write them as headers'
}
