import type { AgentProfile } from '../core/agent-profile.ts'
import { createTextRedactor } from '../core/redact.ts'

/**
 * Returns the agents with `[secret]` for each secret in their instructions and skills, and a warning for each text that
 * had one: whatever stands there is sent to the model's provider with every request (C29).
 */
export function withoutSecrets(
  agents: readonly AgentProfile[],
  secrets: readonly string[],
): { readonly agents: readonly AgentProfile[]; readonly warnings: readonly string[] } {
  const redact = createTextRedactor(secrets)
  const warnings: string[] = []
  const clean = (text: string, path: string): string => {
    const without = redact(text)
    if (without !== text)
      warnings.push(`${path}: a secret of this configuration stands in the text; the model is not shown it`)
    return without
  }
  const cleaned = agents.map((agent, index): AgentProfile => {
    const prompt = clean(agent.prompt, `agents[${index}].prompt`)
    const { skills } = agent
    if (skills === undefined) return { ...agent, prompt }
    const path = `agents[${index}].skills`
    return { ...agent, prompt, skills: skills.map((skill) => ({ ...skill, text: clean(skill.text, path) })) }
  })
  return warnings.length === 0 ? { agents, warnings } : { agents: cleaned, warnings }
}
