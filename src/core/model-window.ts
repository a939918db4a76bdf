/** The tokens that models read at once, by their names; the first that matches counts. */
const WINDOWS: readonly (readonly [model: RegExp, tokens: number])[] = [
  [/^anthropic\/claude-/, 200_000],
  // Its window is 400,000 tokens, of which 128,000 are the answer's.
  [/^openai\/gpt-[5-9]/, 272_000],
  [/^openai\/gpt-4\.1/, 1_047_576],
  [/^openai\/(gpt-4o|gpt-4-turbo|chatgpt-4o)/, 128_000],
  [/^openai\/o\d/, 200_000],
]

/**
 * Returns how many tokens a model reads at once; undefined for one that is not known, such as a model of one's own. The
 * numbers are those that are documented for every account.
 */
export function windowOf(model: string): number | undefined {
  return WINDOWS.find(([name]) => name.test(model))?.[1]
}
