// The field above a page's tables hides the rows that do not hold all words typed into it.
(() => {
  const field = document.querySelector("input.filter")
  if (!field) return
  const count = document.querySelector(".filter-count")
  const rows = [...document.querySelectorAll("article table tbody tr")]
  const texts = rows.map(row => row.textContent.toLowerCase())
  const sections = [...document.querySelectorAll("article h2")].map(head => {
    const parts = [head]
    for (let next = head.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling)
      parts.push(next)
    return [parts, rows.filter(row => parts.some(part => part.contains(row)))]
  })
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    rows.forEach((row, at) => { row.hidden = !words.every(word => texts[at].includes(word)) })
    for (const [parts, own] of sections)
      for (const part of parts)
        part.hidden = own.length > 0 && own.every(row => row.hidden)
    count.hidden = !words.length
    count.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length}`
  }
  field.hidden = false
  field.addEventListener("input", show)
})()
