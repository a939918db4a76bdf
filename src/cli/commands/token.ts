import { EXIT } from '../../core/errors.ts'
import type { NewToken, TokenReport } from '../../core/operate-tokens.ts'
import { shownTokenId, tokenIdOf } from '../../core/token.ts'
import { askOperator } from '../ask-operator.ts'
import { oneLine } from '../print/plain.ts'
import { printTokens } from '../print/tokens.ts'
import { type ReadOptions, type ReadPorts, show, widthOf } from '../show.ts'

/** The token is the only line on stdout, so that it can be piped. */
export async function createToken(ports: ReadPorts, request: NewToken, options: ReadOptions): Promise<number> {
  const made = await askOperator(ports, await ports.load(options.config, 'ask'), ({ tokens }) => tokens.create(request))
  const scopes = made.scopes.join(', ')
  if (!options.json)
    ports.stderr.write(`Token ${shownTokenId(made.id)} reaches ${reachOf(made)}, for ${scopes}. It is shown once.\n`)
  show(ports, options, { value: made, lines: () => [made.token] })
  return EXIT.ok
}

function reachOf({ namespace }: TokenReport): string {
  return namespace === undefined ? 'all that an owner reaches' : `sessions of ${namespace}: and nothing else`
}

export async function listTokens(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const tokens = await askOperator(ports, await ports.load(options.config, 'ask'), (operator) => operator.tokens.list())
  const page = { now: ports.now(), width: widthOf(ports.stdout) }
  show(ports, options, { value: tokens, lines: (style) => printTokens(tokens, page, style) })
  return EXIT.ok
}

/** A whole token may be given: its secret goes nowhere, not even into an error. */
export async function revokeToken(ports: ReadPorts, shown: string, options: ReadOptions): Promise<number> {
  const id = tokenIdOf(shown)
  const also = await askOperator(ports, await ports.load(options.config, 'ask'), ({ tokens }) => tokens.revoke(id))
  show(ports, options, {
    value: { revoked: true, ...(also.length === 0 ? {} : { also }) },
    lines: () => [
      `Token ${oneLine(shownTokenId(id))} opens nothing any more.`,
      ...(also.length === 0 ? [] : ['Neither does what it had made:']),
      ...also.map((one) => `  ${shownTokenId(one.id)}  ${oneLine(one.label)}`.trimEnd()),
    ],
  })
  return EXIT.ok
}
