import { join } from 'node:path'
import { expect, test } from 'vitest'
import { load, refusal, TELEGRAM } from './loading.ts'

/** Settings of tools and people, beside a channel that is in order; the line begins after it. */
const TABLE: readonly (readonly [mistake: string, yaml: string, message: string])[] = [
  [
    'tools that do not exist',
    'agents: [{ id: main, tools: [tiem] }]',
    '2: agents[0].tools[0]: there are no such tools; known: time, sessions, message, files, ask, react, task, schedule, web, memory; did you mean `time`?',
  ],
  [
    'a file of own tools that is not there',
    'tools: { own: { dice: none.ts } }',
    '2: tools.own.dice: there is no file ',
  ],
  [
    'a folder in place of own tools',
    'tools: { own: { dice: /tmp } }',
    '2: tools.own.dice: /tmp is a folder and not a file; name the file in it',
  ],
  [
    'a zone of a person that is none',
    'people: { bob: { timezone: Mars/Base } }',
    '2: people.bob.timezone: there is no time zone Mars/Base; write one such as Europe/Berlin or UTC',
  ],
  [
    'an approver who is nobody',
    'tools: { policy: [{ tools: [pay], who: [owner], approvers: [bob], action: ask }] }',
    '2: tools.policy[0].approvers[0]: there is nobody called bob under people; write one of those names; an owner may always answer',
  ],
  [
    'approvers of a rule that asks nobody',
    'tools: { policy: [{ tools: [pay], who: [owner], approvers: [bob], action: deny }] }',
    '2: tools.policy[0].approvers: nobody is asked under a rule that allows or denies; set action: ask, or remove them',
  ],
  [
    'a name that is nobody’s in a rule for tools',
    'tools: { policy: [{ tools: [pay], who: [Owner, ownr], action: deny }] }',
    '2: tools.policy[0].who[1]: there is nobody called ownr under people; write one of those names, or owner, member, everybody; did you mean `owner`?',
  ],
  [
    'sessions of an agent that does not exist',
    'tools: { sessions: { agents: [mian] } }',
    '2: tools.sessions.agents[0]: there is no agent mian; known: main; did you mean `main`?',
  ],
  [
    'a search without its key',
    'tools: { web: { search: { provider: brave } } }',
    '2: tools.web.search.apiKey: is needed for brave',
  ],
  [
    'a search without its address',
    'tools: { web: { search: { provider: searxng, apiKey: x } } }',
    '2: tools.web.search.url: is needed for searxng',
  ],
  [
    'a search whose address has a password',
    'tools: { web: { search: { provider: searxng, url: "http://:canary@h" } } }',
    '2: tools.web.search.url: must have no name or password in it',
  ],
  [
    'an address in place of a host',
    'tools: { web: { allowedHosts: ["https://e.org/"] } }',
    '2: tools.web.allowedHosts[0]: must be a host name such as example.org, or *.example.org for all below it',
  ],
  [
    'tools of a server that is not there',
    'tools: { mcp: { files: { command: uvx } } }\nagents: [{ id: main, tools: [mcp.file] }]',
    '3: agents[0].tools[0]: there are no such tools; known: time, sessions, message, files, ask, react, task, schedule, web, memory, mcp.files; did you mean `mcp.files`?',
  ],
  [
    'a tool server without a place',
    'tools: { mcp: { files: { tools: [read] } } }',
    '2: tools.mcp.files: needs command, or url for a server that runs already',
  ],
  [
    'a tool server with two places',
    'tools: { mcp: { files: { command: uvx, url: "http://127.0.0.1:1" } } }',
    '2: tools.mcp.files: has both command and url; keep one of them',
  ],
  [
    'a folder for a server that runs already',
    'tools: { mcp: { files: { url: "http://127.0.0.1:1", folder: x } } }',
    '2: tools.mcp.files: args, env and folder belong to a command',
  ],
  [
    'trust in a program, which has it anyway',
    'tools: { mcp: { files: { command: uvx, trusted: true } } }',
    '2: tools.mcp.files: trusted belongs to a url; a command is trusted anyway',
  ],
  [
    'folders for a tool server without arguments',
    'tools: { mcp: { files: { command: uvx, folders: [x] } } }',
    '2: tools.mcp.files: tier, folders and allowedCommands need arguments, which says what is a path and what a command',
  ],
  [
    'a tool server whose paths may lead nowhere',
    'tools: { mcp: { files: { command: uvx, arguments: [{ tools: [read], paths: [path] }] } } }',
    '2: tools.mcp.files: needs folders, where its paths may lead, or tier: full',
  ],
  [
    'a sandbox of two folders',
    'tools: { mcp: { files: { command: uvx, folders: [a, b], arguments: [{ tools: [read], paths: [path] }] } } }',
    '2: tools.mcp.files: sandboxed is one folder; set tier: workspace for several',
  ],
  [
    'folders that bound nothing',
    'tools: { mcp: { files: { command: uvx, tier: full, folders: [a], arguments: [{ tools: [read], paths: [path] }] } } }',
    '2: tools.mcp.files: tier full reaches every folder; take out folders',
  ],
  [
    'a command of which nothing is allowed',
    'tools: { mcp: { files: { command: uvx, folders: [a], arguments: [{ tools: [run], command: line }] } } }',
    '2: tools.mcp.files: needs allowedCommands, the programs that a command may begin with',
  ],
  [
    'a login for a program',
    'tools: { mcp: { files: { command: uvx, oauth: { clientId: x } } } }',
    '2: tools.mcp.files: headers and oauth belong to a url; a program gets what it needs under env',
  ],
  [
    'a program that is not there',
    'tools: { mcp: { files: { command: /no/such/program } } }',
    '2: tools.mcp.files: there is no file /no/such/program; check the path',
  ],
  [
    'a folder in place of a program',
    'tools: { mcp: { files: { command: /tmp } } }',
    '2: tools.mcp.files: /tmp is a folder and not a file; name the file in it',
  ],
  [
    'npx without a package, which would open a shell',
    'tools: { mcp: { files: { command: npx, args: [-y] } } }',
    '2: tools.mcp.files: npx needs the name of a package under args',
  ],
  [
    'several arguments of npx in one',
    'tools: { mcp: { files: { command: npx, args: ["-y server /srv"] } } }',
    '2: tools.mcp.files: args has several arguments in one, "-y server /srv"; write each as an entry of its own',
  ],
  [
    'a program by a path with ~',
    'tools: { mcp: { files: { command: ~/bin/server } } }',
    '2: tools.mcp.files: ~/bin/server: ~ stands for no folder here; write the whole path',
  ],
  [
    'a key that other programs have',
    'tools: { mcp: { files: { url: "http://127.0.0.1:1", type: http } } }',
    '2: unknown key `type` in tools.mcp.files; leave it out: command or url says it',
  ],
  [
    'a token beside the headers',
    'tools: { mcp: { files: { url: "http://127.0.0.1:1", token: x } } }',
    '2: unknown key `token` in tools.mcp.files; write it under headers',
  ],
  [
    'a program with its arguments in one line',
    'tools: { mcp: { files: { command: npx -y server } } }',
    '2: tools.mcp.files: there is no program npx -y server; write what stands behind the program under args',
  ],
  [
    'the secret of nobody',
    'tools: { mcp: { files: { url: "http://127.0.0.1:1", oauth: { clientSecret: canary } } } }',
    '2: tools.mcp.files: oauth.clientSecret needs oauth.clientId',
  ],
  [
    'a way to an argument that is none',
    'tools: { mcp: { files: { command: uvx, folders: [a], arguments: [{ tools: [run], paths: ["a[0]"] }] } } }',
    '2: tools.mcp.files.arguments[0].paths[0]: must be the name of an argument such as path, paths[] or edits[].path',
  ],
  [
    'a tool server whose address has a password',
    'tools: { mcp: { files: { url: "http://a:canary@127.0.0.1:1" } } }',
    '2: tools.mcp.files: url must have no name or password in it; write them as headers',
  ],
  [
    'a tool server whose name could not be read out of the names of its tools',
    'tools: { mcp: { my__files: { command: uvx } } }',
    '2: tools.mcp.my__files: the name must be a name of a-z 0-9 -, at most 32',
  ],
]

test.each(TABLE)('%s is refused with line, path and remedy', async (_, yaml, message) => {
  expect(await refusal(`${TELEGRAM}${yaml}\n`)).toContain(`parley.yaml:${message}`)
})

/** Slips that are more than a letter: what is shown behind the list of all groups. */
const MEANT: readonly (readonly [slip: string, yaml: string, hint: string])[] = [
  [
    'a server by its bare name',
    'tools: { mcp: { notes: { command: uvx } } }\nagents: [{ id: main, tools: [notes] }]',
    'memory, mcp.notes; did you mean `mcp.notes`?',
  ],
  ['a tool in place of its group', 'agents: [{ id: main, tools: [web_fetch] }]', 'memory; did you mean `web`?'],
  [
    'a file that nothing names',
    'agents: [{ id: main, tools: [own.dice] }]',
    'memory; tools.own has no dice, which would bring them',
  ],
]

test.each(MEANT)('%s is refused with what was meant', async (_, yaml, hint) => {
  expect(await refusal(`${TELEGRAM}${yaml}\n`)).toContain(hint)
})

test('C29: what opens a tool server is a secret, by its name or as a header', async () => {
  const env = { A_KEY: 'first-canary', B: 'second-canary', C: 'third-canary', PLAIN: 'harmless' }
  const { config } = await load(
    `${TELEGRAM}tools:
  mcp:
    one: { command: uvx, env: { TOKEN: "\${env:A_KEY}", MODE: "\${env:PLAIN}" } }
    two: { url: "http://127.0.0.1:1", headers: { x-odd: "Key \${env:B}" } }
  web: { search: { provider: brave, apiKey: "\${env:C}" } }
`,
    env,
  )
  const secrets = (config.secrets ?? []).map((secret) => secret.reveal())
  expect(secrets).toEqual(expect.arrayContaining(['first-canary', 'second-canary', 'third-canary']))
  expect(secrets).not.toContain('harmless')
  expect(JSON.stringify(config)).not.toMatch(/(first|second|third)-canary/)
})

test('C29: so is what a program gets from a file, a credential, or a variable with a name for a secret', async () => {
  const env = { A: 'first-canary', GITHUB_PAT: 'second-canary', MY_API_KEY: 'third-canary', PLAIN: 'harmless' }
  const { config } = await load(
    `${TELEGRAM}tools:
  mcp:
    one:
      command: uvx
      args: [--pat, "\${env:GITHUB_PAT}", --db, "\${file:db.txt}"]
      env: { AWS_SECRET_ACCESS_KEY: "\${env:A}", SORT_KEY: created_at, MODE: "\${env:PLAIN}" }
    two: { url: "http://127.0.0.1:1/mcp?key=\${env:MY_API_KEY}" }
hooks:
  three: { on: after_turn, command: node, env: { SENTRY_DSN: "\${file:dsn.txt}" } }
`,
    env,
    { 'db.txt': 'fourth-canary', 'dsn.txt': 'fifth-canary' },
  )
  const secrets = (config.secrets ?? []).map((secret) => secret.reveal())
  for (const nth of ['first', 'second', 'third', 'fourth', 'fifth']) expect(secrets).toContain(`${nth}-canary`)
  expect(secrets).not.toContain('harmless')
  expect(secrets).not.toContain('created_at')
})

test('a program of a tool server begins beside the configuration, wherever the daemon was started', async () => {
  const { config, folder } = await load(
    `${TELEGRAM}tools: { mcp: { one: { command: uvx }, two: { command: uvx, folder: work } } }`,
  )
  expect((config.mcp ?? []).map(({ at }) => at.kind === 'program' && at.folder)).toEqual([folder, join(folder, 'work')])
  expect(await refusal(`${TELEGRAM}tools: { mcp: { one: { command: ./run } } }`)).toMatch(
    /one: there is no file \/.*parley-config-[^/]*\/run; check the path/,
  )
})
