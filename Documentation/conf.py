# SPDX-License-Identifier: GPL-2.0
"""Sphinx: the texts and manual pages as a site (make html).

The texts are written to be read as they are. Here "overview.rst" and "bftmutexd(8)" become links,
and 'operating.rst, "Clocks"' leads to the section of that title: one that is not there is a warning.
"""
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

project = "bftmutex"
html_title = "bftmutex"
html_theme = "alabaster"
html_theme_options = {"page_width": "1080px", "fixed_sidebar": "true",
                      "description": "Locks of a cluster whose servers may lie"}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_show_copyright = False
html_show_sourcelink = False
highlight_language = "none"
smartquotes = False
nitpicky = True
exclude_patterns = ["netlink", "schemas"]

NAMED = re.compile(r'(?<![\w/-])(?P<text>(?:results/)?[a-z]+)\.rst(?:\)?,?\s+\(?"(?P<title>[^"]+)")?'
                   r'|\b(?P<page>bftmutex[a-z.-]*)\((?P<section>[1-8])\)')


def links(text, docname):
    """Nodes for the text, in which what names another text is a link."""
    end = 0
    for match in NAMED.finditer(text):
        page = match["page"] and "man/%s.%s" % (match["page"], match["section"])
        target = page or match["text"]
        if target == docname:
            continue
        yield nodes.Text(text[end:match.start()])
        link = addnodes.pending_xref("", refdomain="std", reftype="doc", reftarget="/" + target,
                                     refexplicit=True, refdoc=docname, refwarn=True)
        link += nodes.inline("", match[0])
        yield link
        end = match.end()
    yield nodes.Text(text[end:])


def link_names(app, doctree):
    """Makes links of names, in prose and in ``literals``."""
    docname = app.env.docname
    for text in list(doctree.findall(nodes.Text)):
        parent = text.parent
        if not NAMED.search(text.astext()) or isinstance(
                parent, (nodes.title, nodes.literal_block, nodes.raw, nodes.comment)) or isinstance(
                parent.parent, (nodes.reference, addnodes.pending_xref)):
            continue
        parent.replace(text, list(links(text.astext(), docname)))


def link_titles(app, doctree, docname):
    """Leads links with a title to that section."""
    for link in doctree.findall(nodes.reference):
        match = NAMED.fullmatch(link.astext())
        if not match or not match["title"]:
            continue
        target, title = match["text"], " ".join(match["title"].split())
        ids = {section.next_node(nodes.title).astext(): section["ids"][0]
               for section in app.env.get_doctree(target).findall(nodes.section)}
        if title in ids:
            link["refuri"] = link["refuri"].split("#")[0] + "#" + ids[title]
        else:
            logging.getLogger(__name__).warning(
                '%s.rst has no section "%s"', target, title, location=docname)


def setup(app):
    app.connect("doctree-read", link_names)
    app.connect("doctree-resolved", link_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
