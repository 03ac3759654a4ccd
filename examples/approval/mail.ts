// A simulated mail service. The recipient answers with a `POST /events`, by a button on a page or a command.

export async function mail(to: string, text: string) {
  console.log(`mail to ${to}: ${text}`)
  return { to }
}
