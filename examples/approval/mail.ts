// A simulated mail service. The recipient answers with a post to the link, by a button on a page or a command.

export async function mail(to: string, text: string, link: string) {
  console.log(`mail to ${to}: ${text}`)
  return { to, link }
}
