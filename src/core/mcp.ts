/** A tool server of the configuration, which speaks the Model Context Protocol. */
export interface McpServer {
  /** It is the group of its tools, `mcp.<name>`, and begins the name of each: `<name>__<tool>`. */
  readonly name: string
  readonly at: McpProgram | McpAddress
  /** The tools that may be used, by the server's own names; one that ends in `*` is a beginning. Absent: all. */
  readonly tools?: readonly string[]
  readonly inside: readonly InsideTools[]
  /** The operator takes what the server says of its tools for words of their own; a program is trusted anyway. */
  readonly trusted?: true
  /** Bounds of what the arguments of its tools may reach; absent: nothing is known of them, and it counts as `full`. */
  readonly bounds?: McpBounds
  /** The longest that one call may take. */
  readonly timeoutMs: number
}

/** Bounds of the arguments of a server's tools (C47): it is the calls that are bounded, not the program. */
export interface McpBounds {
  /** The folders that paths may reach: `sandboxed` has one, `workspace` some, with `full` any path is passed. */
  readonly tier: 'sandboxed' | 'workspace' | 'full'
  readonly folders: readonly string[]
  readonly arguments: readonly McpArguments[]
  /** Programs by name, or whole lines. */
  readonly allowedCommands: readonly string[]
}

/** The arguments of some tools that are paths, and those that make up a command: `edits[].path`, `argv[]`. */
export interface McpArguments {
  readonly tools: readonly string[]
  readonly paths: readonly string[]
  readonly command: readonly string[]
}

/** A program that is started with the daemon and speaks over its standard input and output. */
export interface McpProgram {
  readonly kind: 'program'
  readonly command: string
  readonly args: readonly string[]
  /** Variables of its environment, besides the few that any program needs. */
  readonly env: Readonly<Record<string, string>>
  readonly folder?: string
}

/** A server that is reached by HTTP. */
export interface McpAddress {
  readonly kind: 'address'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Parley as its authorization server knows it, and what it asks for; absent: what the server says. */
  readonly login?: {
    readonly clientId?: string
    readonly clientSecret?: string
    readonly scopes?: readonly string[]
  }
}

/** The conversation with whoever logs in at a tool server. */
export interface LoginTalk {
  /** The port to which a browser comes back; absent: any free one. */
  readonly port?: number
  /** The browser comes back to `localhost` and not to 127.0.0.1, for servers that know no other. */
  readonly byName?: true
  /** Lines in which the address may be pasted at which a browser elsewhere has arrived. */
  readonly pasted?: AsyncIterable<string>
  /** Called with the address to open in a browser, and the one it comes back to. */
  open(url: string, redirect: string): void
  /** Called when what was pasted is not the answer to this login. */
  wrong(): void
}

/** The outcome of a login: the scopes that were granted, and those that were asked for and are not among them. */
export interface LoggedIn {
  readonly scopes: readonly string[]
  readonly missing: readonly string[]
}

/** Tools that act inside a conversation, by the operator's word: a call of them needs nobody's yes there. */
export interface InsideTools {
  readonly tools: readonly string[]
  /** The display keys of the conversations, each with its topics. Absent: every one. */
  readonly in?: readonly string[]
}

/** The group of a server's tools in the `tools` of an agent. */
export function mcpGroup(server: string): string {
  return `mcp.${server}`
}

/** Returns the servers of some groups that have no tool among these: most have not been up so far. */
export function absentServers(groups: readonly string[], tools: readonly { readonly name: string }[]): string[] {
  const servers = groups.flatMap((group) => (group.startsWith('mcp.') ? group.slice('mcp.'.length) : []))
  return servers.filter((server) => !tools.some(({ name }) => name.startsWith(`${server}__`)))
}

/** The state of a server: `unused` where no agent has it, and after it was left to begin anew at its next use. */
export interface McpState {
  readonly status: 'unused' | 'starting' | 'up' | 'down'
  /** The tools that it has listed. */
  readonly tools?: number
  /** The last failure, kept after it was mended. */
  readonly lastTrouble?: McpTrouble
  /** It has said that its tools are others now: they are taken at the next start. */
  readonly changed?: true
  /** It has asked for a login, or for a further scope, and nobody has logged in since. */
  readonly wantsLogin?: true
}

/** A failure of a server, with the lines that its program had printed last. Times are ms since the epoch. */
export interface McpTrouble {
  readonly detail: string
  readonly at: number
  readonly printed?: readonly string[]
}

/** Returns a server and how it does in one line, and the lines about its failure; none while it is up. */
export function mcpInWords(report: McpServerReport): readonly string[] {
  const { server, status, tools, lastTrouble, wantsLogin, changed } = report
  const number = tools === undefined ? '' : `, ${tools} ${tools === 1 ? 'tool' : 'tools'}`
  const login = wantsLogin ? `, asks for a login: parley mcp login ${server}` : ''
  const trouble = status === 'up' ? undefined : lastTrouble
  const others = changed ? ', which are others now: start Parley again to have them' : ''
  if (trouble === undefined) return [`${server}: ${status}${number}${others}${login}`]
  return [`${server}: ${status}, ${trouble.detail}`, ...(trouble.printed ?? [])]
}

/** A server of the configuration, as it does now. */
export interface McpServerReport extends McpState {
  readonly server: string
  /** The agents that may use it. */
  readonly agents: readonly string[]
}

/** The tools of a server as it lists them just now, for the operator. */
export interface McpCheck {
  readonly server: string
  readonly tools: readonly CheckedTool[]
  /** Tools that no agent gets, each with the reason. */
  readonly leftOut: readonly string[]
  /** Names in the configuration that none of its tools has. */
  readonly unknown: readonly string[]
}

export interface CheckedTool {
  /** The name by which models and `tools.policy` know it. */
  readonly name: string
  readonly description: string
  /** `asks`: a person has to agree to each call, unless the policy says otherwise. */
  readonly use: 'asks' | 'inside' | 'inside in some places'
  /** The check of its calls, such as `path within /srv/notes`; absent: nothing. */
  readonly checked?: string
}
