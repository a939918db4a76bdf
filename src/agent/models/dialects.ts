import type { Trait } from './traits.ts'

/** A server that is known by its address, with what is known of it beforehand. MODEL-FACTS.md has the sources. */
export interface Dialect {
  readonly name: string
  readonly hosts: RegExp
  readonly traits: readonly Trait[]
}

/**
 * Servers whose refusals are known. All others are asked in the form that most take, and what they refuse is learnt:
 * the table only spares them the refusals.
 */
const DIALECTS: readonly Dialect[] = [
  { name: 'openai', hosts: /(^|\.)api\.openai\.com$/, traits: ['max-completion-tokens'] },
  { name: 'azure', hosts: /\.(openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.com$/, traits: [] },
  { name: 'deepseek', hosts: /(^|\.)deepseek\.com$/, traits: ['thoughts-with-calls'] },
  { name: 'kimi', hosts: /(^|\.)(moonshot\.(ai|cn)|kimi\.com)$/, traits: ['thoughts-with-calls'] },
  { name: 'gemini', hosts: /(^|\.)(generativelanguage|aiplatform)\.googleapis\.com$/, traits: ['signed-calls'] },
  { name: 'mistral', hosts: /(^|\.)mistral\.ai$/, traits: ['nine-character-ids'] },
]

/** Returns the traits of a server by its address; none for one that is not known. */
export function traitsOfServer(baseUrl: string): readonly Trait[] {
  const { hostname } = new URL(baseUrl)
  return DIALECTS.find(({ hosts }) => hosts.test(hostname))?.traits ?? []
}
