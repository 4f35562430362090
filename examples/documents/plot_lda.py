"""Latent Dirichlet allocation of short texts: the words of each topic, and new sentences that mix topics.

Run ``python examples/plot_lda.py [picture.png]``; without a file name a window opens.
"""

import sys
import textwrap

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import LDA
from soft_clustering.plotting import TernaryDisplay, TopicWordsDisplay, cluster_colors
from soft_clustering.plotting.ternary import CORNERS

TEXTS = """
The rocket carried a telescope and three astronauts into orbit around the earth.
Astronauts repaired the telescope during a long walk outside the space station.
The space station circles the earth every ninety minutes in a low orbit.
A new telescope found a planet in orbit around a distant star.
The rocket launch was delayed because the engine of the rocket leaked fuel.
Engineers tested the engine and the fuel tanks before the launch.
The planet circles its star so closely that its surface melts.
Three astronauts returned to earth after a year on the space station.
The probe passed the planet and sent pictures of its moon back to earth.
A launch to the moon needs a larger rocket and far more fuel.
The telescope measured the light of a star near the edge of the galaxy.
From orbit the astronauts watched a storm cross the surface of the earth.
Chop the garlic and the onion and fry them in butter until golden.
Bake the bread in a hot oven until the crust is golden.
Add salt, pepper and cream to the sauce and stir over a low heat.
Knead the dough, let it rise, and bake the bread in a hot oven.
Stir the onion and the garlic into the tomato sauce and add salt.
Melt the butter in a pan and fry the fish with garlic and pepper.
A good soup needs onion, butter, salt and patience.
Pour the cream over the potatoes and bake them in the oven.
Serve the soup with fresh bread and a little pepper.
The sauce thickens when you stir flour and butter in a hot pan.
Roll out the dough, add the tomato sauce and bake in a hot oven.
Season the fish with salt and pepper and serve it with the potatoes.
The striker scored a late goal and the team won the match.
The goalkeeper saved a penalty in the last minute of the match.
The coach praised the team after the match against the league champions.
A goal in the first minute gave the team the lead in the final.
The referee gave a penalty and the striker scored the winning goal.
The players trained all week for the final of the cup.
Fans sang in the stadium when the team lifted the cup.
The league champions lost the match to a team of young players.
The goalkeeper and the striker left the stadium with the cup.
The coach changed three players before the second half of the match.
The referee stopped the match when fans ran onto the pitch of the stadium.
Young players of the league train every week with a new coach.
""".strip().splitlines()

NEW = [
    "Astronauts on the space station bake bread in a small oven.",
    "The team ate soup and potatoes before the match.",
    "Fans of the rocket launch filled the stadium and sang.",
    "The coach fried fish for the players and the referee.",
    "A star of the league scored from the edge of the galaxy.",
    "Stir the sauce, watch the match, and look at the moon.",
]


def main() -> None:
    model = LDA(n_clusters=3, doc_topic_prior=0.2, topic_word_prior=0.05, n_init=10, random_state=0).fit(TEXTS)
    shares = model.predict_memberships(NEW)

    figure = plt.figure(figsize=(12.5, 8.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[1, 1.35], width_ratios=[1, 1.15])
    TopicWordsDisplay.from_estimator(model, ax=figure.add_subplot(grid[0, :]), n_words=9)

    triangle = figure.add_subplot(grid[1, 0])
    TernaryDisplay.from_estimator(model, ax=triangle, s=30, alpha=0.75)
    for number, place in enumerate(shares @ CORNERS, start=1):
        triangle.annotate(
            str(number),
            place,
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": "black"},
            zorder=5,
        )
    triangle.set_title("36 sentences, and 6 new ones (numbers)", fontsize="medium")

    bars = figure.add_subplot(grid[1, 1])
    rows = np.arange(len(NEW))
    left = np.zeros(len(NEW))
    for k, color in enumerate(cluster_colors(3)):
        bars.barh(rows, shares[:, k], left=left, color=color, height=0.45)
        left += shares[:, k]
    labels = [textwrap.fill(f"{number}  {text}", 36) for number, text in enumerate(NEW, start=1)]
    bars.set_yticks(rows, labels, fontsize="small")
    bars.set(xlim=(0, 1), ylim=(len(NEW) - 0.5, -0.5))
    bars.tick_params(axis="y", length=0)
    bars.spines[["top", "right", "left"]].set_visible(False)
    bars.set_title("shares of the topics in the new sentences", fontsize="medium")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
