import type { McpSettings } from '../../config/config.ts'
import { EXIT } from '../../core/errors.ts'
import { mcpGroup } from '../../core/mcp.ts'
import type { CliPorts } from '../ports.ts'
import { columns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import { count } from '../print/status.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

/** Lists the tool servers of the configuration, without asking them. */
export async function listMcp(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const { config } = await ports.load(options.config, 'ask')
  const servers = (config.mcp ?? []).map((server) => ({
    server: server.name,
    at: placeOf(server),
    agents: config.agents.filter(({ tools }) => tools.includes(mcpGroup(server.name))).map(({ id }) => id),
  }))
  show(ports, options, {
    value: servers,
    lines: (style) => {
      if (servers.length === 0) return ['No tool server. tools.mcp in the configuration names them.']
      const rows = servers.map(({ server, at, agents }) => [server, agents.join(', ') || 'no agent', oneLine(at)])
      const [header = '', ...lines] = columns([['SERVER', 'FOR', 'AT'], ...rows], ports.stdout.columns ?? 80)
      return [style.bold(header), ...lines]
    },
  })
  return EXIT.ok
}

/** The arguments of a program may hold a secret: they are not shown. */
function placeOf({ at }: McpSettings): string {
  return at.kind === 'program' ? at.command : at.url
}

/** Connects to a server as the daemon would and shows its tools. Throws `not_found` and `unavailable`. */
export async function testMcp(
  ports: ReadPorts & Pick<CliPorts, 'mcp'>,
  name: string,
  options: ReadOptions,
): Promise<number> {
  const { config } = await ports.load(options.config)
  const check = await (await ports.mcp()).test(config, name)
  const { tools, leftOut } = check
  show(ports, options, {
    value: check,
    lines: (style) => [
      ...columns(
        tools.map((tool) => [
          `  ${tool.name}`,
          tool.use,
          oneLine(tool.checked ?? 'unchecked'),
          oneLine(tool.description),
        ]),
        ports.stdout.columns ?? 80,
      ),
      ...leftOut.map((one) => style.bad(`  left out: ${oneLine(one)}`)),
      `${style.good('✓')} ${name} answers: ${count(tools.length, 'tool')}, for agents with tools: [${mcpGroup(name)}]`,
    ],
  })
  return EXIT.ok
}
