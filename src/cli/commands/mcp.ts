import { constants } from 'node:os'
import type { McpSettings } from '../../config/config.ts'
import { EXIT } from '../../core/errors.ts'
import { type McpCheck, type McpServerReport, type McpState, mcpGroup } from '../../core/mcp.ts'
import { connectLocal } from '../local-client.ts'
import type { CliPorts, LoadedConfig, McpOperator } from '../ports.ts'
import { columns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import { count } from '../print/status.ts'
import { type ReadOptions, type ReadPorts, show, widthOf } from '../show.ts'
import { socketPathOf } from '../socket-path.ts'
import { watchSignals } from '../watch-signals.ts'

type SignalPorts = Pick<CliPorts, 'onSignal' | 'onHangup'>

/** Lists the tool servers of the configuration, without asking them: how they do is what the daemon knows. */
export async function listMcp(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const { config } = await ports.load(options.config, 'ask')
  const reports = await statesOf(config)
  const servers = (config.mcp ?? []).map((server) => ({
    server: server.name,
    at: placeOf(server),
    agents: config.agents.filter(({ tools }) => tools.includes(mcpGroup(server.name))).map(({ id }) => id),
    ...stateOf(server.name, reports),
  }))
  show(ports, options, {
    value: servers,
    lines: (style) => {
      if (servers.length === 0) return ['No tool server. tools.mcp in the configuration names them.']
      const rows = servers.map((one) => [
        ...[one.server, stateWords(one, reports !== undefined), one.agents.join(', ') || 'no agent', oneLine(one.at)],
      ])
      const [header = '', ...lines] = columns([['SERVER', 'STATE', 'FOR', 'AT'], ...rows], widthOf(ports.stdout))
      const troubles = servers.flatMap(({ server, status, lastTrouble }) =>
        status === 'down' && lastTrouble
          ? [
              style.bad(`${server}: ${oneLine(lastTrouble.detail)}`),
              ...(lastTrouble.printed ?? []).map((line) => `  ${oneLine(line)}`),
            ]
          : [],
      )
      const logins = servers
        .filter(({ wantsLogin, status }) => wantsLogin && status !== 'down')
        .map(({ server }) => style.bad(`${server}: it asks for a login. Run: parley mcp login ${server}`))
      return [style.bold(header), ...lines, ...troubles, ...logins]
    },
  })
  return EXIT.ok
}

/** Returns what the running daemon knows of its servers; undefined where none runs. */
async function statesOf(config: LoadedConfig['config']): Promise<readonly McpServerReport[] | undefined> {
  if ((config.mcp ?? []).length === 0) return []
  return (await connectLocal(socketPathOf(config)))?.parts.toolServers()
}

function stateOf(name: string, reports: readonly McpServerReport[] = []): Partial<McpState> {
  const { server: _, agents: _agents, ...state } = reports.find(({ server }) => server === name) ?? {}
  return state
}

function stateWords({ status, tools }: Partial<McpState>, daemon: boolean): string {
  if (status === undefined) return daemon ? 'from the next start on' : 'no daemon runs'
  return tools === undefined ? status : `${status}, ${count(tools, 'tool')}`
}

/** The arguments of a program, and of an address, may hold a secret: they are not shown. */
function placeOf({ at }: McpSettings): string {
  if (at.kind === 'program') return at.command
  const { origin, pathname, search } = new URL(at.url)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}

/** Connects to a server as the daemon would and shows its tools. Throws `not_found` and `unavailable`. */
export async function testMcp(
  ports: ReadPorts & SignalPorts & Pick<CliPorts, 'mcp'>,
  name: string,
  options: ReadOptions,
): Promise<number> {
  const { config } = await ports.load(options.config)
  const mcp = await ports.mcp()
  const check = await checkUntilSignal(ports, mcp, mcp.test(config, name))
  if (typeof check === 'number') return check
  const { tools, leftOut, unknown } = check
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
        widthOf(ports.stdout),
      ),
      ...leftOut.map((one) => style.bad(`  left out: ${oneLine(one)}`)),
      ...unknown.map((one) => style.bad(`  tools.mcp.${name} names ${oneLine(one)}, and no tool has that name`)),
      `${tools.length === 0 ? style.dim('·') : style.good('✓')} ${name} answers: ${count(tools.length, 'tool')}, for agents with tools: [${mcpGroup(name)}]`,
    ],
  })
  return EXIT.ok
}

/**
 * Returns what a server offers, or the exit code of a shell for the signal that ended the test. A program has a process
 * group of its own, which no Ctrl-C reaches: it is ended first, unless a second signal says that this takes too long.
 */
async function checkUntilSignal(
  { onSignal, onHangup }: SignalPorts,
  mcp: McpOperator,
  work: Promise<McpCheck>,
): Promise<McpCheck | number> {
  const signals = watchSignals((handler) => {
    const stops = [onSignal(handler), onHangup(() => handler('SIGHUP'))]
    return () => {
      for (const stop of stops) stop()
    }
  })
  try {
    const checked = work.then(
      () => undefined,
      () => undefined,
    )
    const name = await Promise.race([checked, signals.first])
    if (name === undefined) return await work
    await Promise.race([mcp.endPrograms(), signals.second])
    return 128 + (constants.signals[name as NodeJS.Signals] ?? 0)
  } finally {
    signals.close()
  }
}
